// SPDX-License-Identifier: Apache-2.0
//
// From a `.fore` file to a Spec: parse, import, evaluate, bind.
#pragma once

#include "frontend/ParsedFiles.h"
#include "ir/model/Spec.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace foretrace {

struct FrontendOptions {
  /// `name=value` as given with -D; each overrides a `param`, or a key written
  /// with its sections, `model.attention.heads`. `cluster=NAME` takes the place
  /// of the job's cluster (frontend/Overrides.h).
  std::vector<std::string> Overrides;
  /// Folders searched for imports after the importing file's own.
  std::vector<std::string> ImportPaths;
  /// Whether the `emit` blocks are those of the `sweep` section, not those of
  /// the job.
  bool EmitsOfSweep = false;
  /// Whether only the model matters, given the job's `emit` blocks: then it
  /// needs neither `train` nor `parallel`. By default all does.
  std::function<bool(llvm::ArrayRef<ir::EmitSpec>)> IsOfModel;
  /// Whether nothing but the model is asked for, so that the rest of the job
  /// need not be legal.
  bool OnlyModel = false;
  /// Name of the `serve` section to compile if the job has several.
  std::string Pool;
  /// Name of the job in messages if its files set neither `train` nor
  /// `parallel`, so that it is a model. The keys that it lacks are then assumed
  /// and reported; with an empty name they are missing.
  std::string ModelName;
};

/// Compiles the file at \p Path; files that \p Files has are not parsed again.
/// Returns nothing after an error; all errors of all phases that could run are
/// in \p Diags. The result holds what was stated and constant defaults; what
/// follows from other values (dp, ga, head_dim ...) is left absent for the
/// `derive` pass.
std::optional<ir::Spec> compileSpec(ParsedFiles &Files, llvm::StringRef Path,
                                    const FrontendOptions &Options,
                                    DiagnosticEngine &Diags);

/// Returns the keys that were assumed for a job that is a model:
/// `train.sequence=4096`.
std::vector<std::string> assumedKeys(const ir::Spec &S);
/// Warns that \p Keys were assumed for the job \p Name, as options, of which
/// \p Word makes words of a shell. Returns nothing if there are none.
std::optional<DiagnosticBuilder> reportAssumed(
    llvm::ArrayRef<std::string> Keys, llvm::StringRef Name,
    DiagnosticEngine &Diags,
    llvm::function_ref<std::string(llvm::StringRef)> Word =
        [](llvm::StringRef Text) { return Text.str(); });

/// The cluster in the file \p Path, TOML or the section of a job, as an
/// `import` finds it. -D changes its keys. Nothing after an error.
std::optional<ir::ClusterSpec> compileCluster(ParsedFiles &Files,
                                              llvm::StringRef Path,
                                              const FrontendOptions &Options,
                                              DiagnosticEngine &Diags);

/// The block of \p Backend with the options \p Options, `name=value` each, as
/// the command line has them after dashes. Nothing after an error.
std::optional<ir::EmitSpec> compileEmit(ParsedFiles &Files,
                                        llvm::StringRef Backend,
                                        llvm::ArrayRef<std::string> Options,
                                        DiagnosticEngine &Diags);

/// The path by which -D changes the key \p Name of `model`, `train`,
/// `parallel`, `cost` or `cluster`: `parallel.tp`. Empty if none of these has
/// the key.
std::string pathOfKey(llvm::StringRef Name);

/// Returns all names, here and in other tools, of the keys that are called
/// \p Word in any of them; none if there is no such key.
std::vector<llvm::StringRef> namesOfKey(llvm::StringRef Word);

/// Returns what a job lacks without the key or section \p Name, which belongs
/// to no format that is imported, if it affects figures and is not modelled.
std::optional<llvm::StringRef> findNotModelled(llvm::StringRef Name);

} // namespace foretrace
