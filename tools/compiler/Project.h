// SPDX-License-Identifier: Apache-2.0
//
// `foretrace.toml`: what the jobs of a folder have in common.
#pragma once

#include "lang/SourceFiles.h"
#include "lang/WarningOption.h"
#include <string>
#include <vector>

namespace foretrace {

/// The file's name.
constexpr char ProjectFileName[] = "foretrace.toml";

struct Project {
  std::string Path;                     ///< empty: there is no project file
  std::vector<std::string> ImportPaths; ///< seen from where we are
  std::string Cluster;                  ///< of `foretrace new`; may be empty
  std::vector<WarningOption> Warnings;

  /// Treats warnings as in the file, except those that options set otherwise.
  void applyTo(DiagnosticEngine &Diags) const;
};

/// Reads the project file of the job at \p Path: in its folder or in those
/// above it, up to that of the repository or the home folder. Outside of both
/// only the job's own folder is searched. Reports what is wrong in the file.
Project readProject(llvm::StringRef Path, SourceFiles &Sources,
                    DiagnosticEngine &Diags);

} // namespace foretrace
