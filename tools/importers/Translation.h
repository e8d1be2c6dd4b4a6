// SPDX-License-Identifier: Apache-2.0
//
// Applies a mapping to an input: makes the job that its formulas describe.
#pragma once

#include "tools/importers/Importers.h"
#include "tools/importers/formulas/FormulaEvaluator.h"

namespace foretrace::importers {

/// An input and the mapping that applies to it.
struct Translation {
  const Mapping &Map;
  const ForeignValue &Input;
  const ForeignValue *Outer = nullptr;
  DiagnosticEngine &Diags;
  /// Whether unknown keys that are off are reported together.
  bool GathersOff = false;

  /// Makes the job, as far as there was no error.
  void translate(ImportedJob &Job) const;
  /// Reports keys of \p Of that are not modelled or unknown, and counts all.
  void reportKeys(const ForeignValue &Of, KeyCounts &Counts) const;
};

/// Makes the job of \p Input by a class of pages. Reports and counts its keys,
/// and those of members for which there is a class `in_` and their name, but
/// not those of \p Outer. Nothing after an error.
std::optional<ImportedJob> translate(Pages &Classes, const ast::Section &Class,
                                     const ForeignValue &Input,
                                     ImportRequest &Request,
                                     const ForeignValue *Outer = nullptr);

} // namespace foretrace::importers
