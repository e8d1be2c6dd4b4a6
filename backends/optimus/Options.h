// SPDX-License-Identifier: Apache-2.0
//
// The options of `emit optimus { ... }`.
#pragma once

#include "backends/EmitOptions.h"
#include "backends/optimus/Plan.h"
#include "lang/Diagnostic.h"

namespace foretrace::optimus {

/// The forms a plan is written in.
enum class PartitionForm : unsigned char { Log, JSON, Table, CSV, Markdown };

struct Options {
  std::string File; ///< empty: from the job's name
  PartitionForm As = PartitionForm::Log;
  bool IsExact = false;                  ///< a table has all digits
  std::optional<optimus::Family> Family; ///< none: as the model looks
  std::string Transformers;              ///< the version; empty: not known
};

Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);

} // namespace foretrace::optimus
