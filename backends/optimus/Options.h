// SPDX-License-Identifier: Apache-2.0
//
// The options of `emit optimus { ... }`.
#ifndef FORETRACE_BACKENDS_OPTIMUS_OPTIONS_H
#define FORETRACE_BACKENDS_OPTIMUS_OPTIONS_H

#include "backends/optimus/Plan.h"
#include "lang/Diagnostic.h"

namespace foretrace::optimus {

enum class Format : unsigned char { Log, JSON, Table };

struct Options {
  Format As = Format::Log;
  std::optional<optimus::Family> Family; ///< none: as the model looks
  std::string Transformers;              ///< the version; empty: not known
};

/// Reads the options of \p Emit; reports what is unknown or wrong.
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);

} // namespace foretrace::optimus

#endif
