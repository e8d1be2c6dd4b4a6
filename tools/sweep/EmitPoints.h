// SPDX-License-Identifier: Apache-2.0
//
// Emits the points that a sweep kept, each into a folder of its own.
#pragma once

#include "tools/output/FileOutputs.h"
#include "tools/sweep/Database.h"
#include "tools/sweep/Verdict.h"

namespace foretrace::sweep {

struct EmitPointsOptions {
  std::string Folder;                ///< gets a folder `17` for point 17
  std::string Database;              ///< its path
  std::vector<std::string> Backends; ///< as compile's --emit; or none
  bool AreOfSweep = false; ///< the blocks are those of the `sweep` section
  OutputOptions Writing;   ///< of each point
  InputFiles Inputs;       ///< none is replaced or removed
};

/// The result of emitting points.
struct EmittedPoints {
  size_t Count = 0;  ///< that were emitted now
  size_t Before = 0; ///< that were there
  size_t Refused = 0;
  /// The first that a backend refused; its messages are in the engine.
  std::optional<int64_t> FirstRefused;
};

/// An error if the folder is another sweep's, or has inputs where files will
/// be, before there are points to emit.
llvm::Error checkPoints(const Sweep &S, const EmitPointsOptions &Options);

/// Emits the points of \p DB that are not emitted yet, so an interrupted run
/// continues. A folder has all files of its point, or does not exist. \p Diags
/// gets the messages of the first refused point, whose sources are in
/// \p Session. An error if the folder is of another sweep, or can't be written.
llvm::Expected<EmittedPoints>
emitPoints(Compiler &Session, const Sweep &S, Database &DB,
           const EmitPointsOptions &Options,
           llvm::function_ref<void(size_t Done, size_t Of)> Progress,
           DiagnosticEngine &Diags);

} // namespace foretrace::sweep
