// SPDX-License-Identifier: Apache-2.0
//
// A job as the Python module holds it: compiled in a session of its own, asked
// as the subcommands ask it. Nothing in here knows Python.
#pragma once

#include "tools/compiler/Compiler.h"
#include "tools/explain/Explain.h"
#include "tools/output/MemoryOutputs.h"
#include <mutex>

namespace foretrace::python {

/// A job as its caller names it.
struct JobSource {
  std::string Path;
  std::optional<std::string> Text; ///< in place of the file's
  std::vector<std::string> Overrides, ImportPaths;
  bool IsModel = false; ///< only its model matters
  std::string Pool;     ///< the `serve` section, of several

  FrontendOptions options() const;
};

/// Diagnostics of a call.
struct CallOutcome {
  std::string Diagnostics; ///< an object of JSON in each line
  std::string Text;        ///< the same for people, if there are errors
  std::string Misuse;      ///< a wrong argument; empty if all are right
  std::string Failure;     ///< an error that is no diagnostic

  bool isGood() const {
    return Text.empty() && Misuse.empty() && Failure.empty();
  }
};

/// Returns an outcome with the diagnostics of \p Diags.
CallOutcome outcomeOf(const DiagnosticEngine &Diags,
                      const SourceFiles &Sources);

/// Which blocks to emit.
struct BlockRequest {
  /// Requested backends; empty: all blocks of the job.
  std::vector<std::string> Backends;
  std::vector<std::string> Options; ///< `name=value`; need one backend
  /// Whether the options of the job's own blocks count, too.
  bool ReadsJob = true;
};

/// A derivation, as `foretrace explain` prints it.
struct Explanation {
  std::string JSON, Text;
};

/// Several threads may call it; it answers one after the other. After an error
/// the next call reads the job once more, so that it reports the error, too.
class HeldJob {
public:
  explicit HeldJob(JobSource Of) : Of(std::move(Of)) {}

  /// Compiles the job to the end, unless one of its `emit` blocks allows errors
  /// or only the model matters.
  CallOutcome compile();
  /// Emits blocks to memory.
  CallOutcome emit(const BlockRequest &Asked, MemoryOutputs &To);
  /// Emits blocks to a folder, all files or none.
  CallOutcome emit(const BlockRequest &Asked, const std::string &Folder,
                   uint64_t MaxBytes, std::vector<std::string> &Paths);
  CallOutcome explain(const explain::Query &Asked, Explanation &To);

private:
  CallOutcome
  call(llvm::function_ref<void(CompiledJob &, std::string &Misuse)> Ask);
  std::vector<ir::EmitSpec> blocksOf(const BlockRequest &Asked,
                                     CompiledJob &Job);

  const JobSource Of;
  std::mutex Guard;
  Compiler Session;
  CompiledJob *Job = nullptr; ///< read, and without errors so far
};

} // namespace foretrace::python
