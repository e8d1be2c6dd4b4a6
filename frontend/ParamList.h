// SPDX-License-Identifier: Apache-2.0
//
// The params of a job with their values, for who offers other ones.
#pragma once

#include "frontend/Frontend.h"

namespace foretrace {

/// A `param` of a file of a job. Texts are what -D takes: counts and flags by
/// their values, all else as it is written.
struct ParamEntry {
  enum class Kind : unsigned char { Count, Flag, Other };

  std::string Name;
  Kind Is;
  std::string Value;
  SourceRange Range;               ///< of the default, or of what -D says
  std::vector<std::string> Domain; ///< of `in {...}`; empty: any value
};

/// Returns the params with a value, of the file at \p Path and then of its
/// imports; of params with one name, which -D sets together, the first.
std::vector<ParamEntry> listParams(ParsedFiles &Files, llvm::StringRef Path,
                                   const FrontendOptions &Options,
                                   DiagnosticEngine &Diags);

} // namespace foretrace
