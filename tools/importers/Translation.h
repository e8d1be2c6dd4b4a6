// SPDX-License-Identifier: Apache-2.0
//
// Applies a mapping to an input: makes the job that its formulas describe.
#ifndef FORETRACE_TOOLS_IMPORTERS_TRANSLATION_H
#define FORETRACE_TOOLS_IMPORTERS_TRANSLATION_H

#include "tools/importers/ImportedJob.h"
#include "tools/importers/formulas/FormulaEvaluator.h"

namespace foretrace::importers {

/// What an importer may state in place of the input.
struct Translation {
  const Mapping &Map;
  const ForeignValue &Input;
  const ForeignValue *Outer = nullptr;
  DiagnosticEngine &Diags;

  /// Makes the job, as far as there was no error.
  void translate(ImportedJob &Job) const;
  /// Reports keys of \p Of that are not modelled or unknown, and counts all.
  void reportKeys(const ForeignValue &Of, KeyCounts &Counts) const;
};

} // namespace foretrace::importers

#endif
