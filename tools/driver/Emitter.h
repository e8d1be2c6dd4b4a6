// SPDX-License-Identifier: Apache-2.0
//
// What becomes of `emit` blocks: the facts that their backends need, the
// backends' checks, and their files.
#pragma once

#include "backends/figures/Figures.h"
#include "lang/SourceFiles.h"
#include "tools/compiler/CompiledJob.h"
#include "tools/output/FileOutputs.h"
#include <functional>

namespace foretrace::driver {

/// Where `-o` sends files.
struct Destination {
  std::string Folder; ///< empty: the working directory
  std::string File;   ///< name of the only file, if given
  std::string Stream; ///< standard output or a device, if given
};
Destination destinationOf(llvm::StringRef Path);

struct EmitterOptions {
  Destination To;
  /// Takes all files in place of \c To, if it is set.
  OutputSet *Into = nullptr;
  std::string Stem; ///< files that no block names are called by it
  /// Blocks of a job may name files outside of the output folder.
  bool MayLeaveFolder = false;
  bool IsQuiet = false; ///< neither progress nor a list of files
  /// How files are written.
  OutputOptions Writing;
  /// No file replaces an input.
  bool IsApart = false;
  /// Prints the command that runs the consumer of what was written.
  bool ShowsCommand = false;
  /// Called with what is checked next; may be empty.
  std::function<void(const ir::Program &)> Inspect;
  /// List changes of the job with which no rank has more than \p Room bytes, or
  /// with which an iteration is shorter; may be empty.
  std::function<FigureTable(int64_t Room)> ListFitting;
  std::function<FigureTable()> ListFaster;
  /// Reads the job about another of its engines; may be empty.
  std::function<CompiledJob &(llvm::StringRef Pool, DiagnosticEngine Diags)>
      ReadPool;
};

/// Emits blocks of one run, one after the other. Everything wrong is in the
/// diagnostics.
class Emitter {
public:
  Emitter(EmitterOptions Options, const SourceFiles &Sources,
          DiagnosticEngine &Diags);

  /// Compiles \p Job, to whose engine this reports, as far as the backends need
  /// it: each pass once for all blocks.
  void emitJob(CompiledJob &Job, llvm::ArrayRef<ir::EmitSpec> Emits);
  /// Emits \p P, which has all facts that the backend needs, without passes.
  void emitProgram(const ir::Program &P, const ir::EmitSpec &Emit);
  /// Moves the files to their names if nothing was wrong, and lists them.
  void commit();

  /// The files on disk.
  llvm::ArrayRef<FileOutputs::File> files() const { return Outputs.files(); }

private:
  void expect(CompiledJob &Job, const ir::EmitSpec &Emit) const;
  void emitBlock(CompiledJob &Job, const ir::EmitSpec &Emit);
  std::optional<ir::Program> establishAllowed(CompiledJob &Job,
                                              ir::FactSet Needs,
                                              const ir::EmitSpec &Emit);
  CompiledJob *peerOf(const ir::Spec &S);
  const ir::Program *compilePeer(CompiledJob &Peer, ir::FactSet Needs);
  bool checkPeer(const ir::Spec &S);
  /// \p Job is null if \p P was read from text.
  void write(const ir::Program &P, CompiledJob *Job, const Backend &Format,
             const Emission &Block, const ir::EmitSpec &Emit);
  void showCommand(const Emission &Block, const EmitRequest &Request,
                   size_t FirstFile) const;

  const EmitterOptions Options;
  const SourceFiles &Sources;
  FileOutputs Outputs;
  std::string Durations; ///< source of the files' durations, if not measured
  DiagnosticEngine &Diags;
  CompiledJob *Peer = nullptr; ///< once it was read
  bool IsIllegal = false;      ///< the job; its errors have been reported
};

} // namespace foretrace::driver
