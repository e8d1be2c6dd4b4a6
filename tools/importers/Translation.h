// SPDX-License-Identifier: Apache-2.0
//
// Applies a mapping to an input: makes the job that its formulas describe.
#pragma once

#include "tools/importers/ImportedJob.h"
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

/// Reports and counts the keys of those members of \p Of for which there is a
/// class `in_` and their name.
void reportSections(Pages &Classes, const ForeignValue &Of, KeyCounts &Counts,
                    DiagnosticEngine &Diags);

} // namespace foretrace::importers
