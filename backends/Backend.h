// SPDX-License-Identifier: Apache-2.0
//
// What a backend is: a name, what it needs to know about the program, what it
// can express, and bytes. Backends are listed in Backends.def; they include
// only ir and lang.
#ifndef FORETRACE_BACKENDS_BACKEND_H
#define FORETRACE_BACKENDS_BACKEND_H

#include "ir/Program.h"
#include "lang/Diagnostic.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace foretrace {

/// Where a backend's files go: all of them or none. They appear under their
/// names only after every file of the set was written without an error.
class OutputSet {
public:
  virtual ~OutputSet();
  /// Streams one file. \p Path is relative to the output folder.
  llvm::Error add(llvm::StringRef Path,
                  llvm::function_ref<void(llvm::raw_ostream &)> Write);
  /// Streams \p Count files: file I, from 0, has the path `Path(I)`, and
  /// `Write(I, OS)` writes it. Several threads may do so at once, and which is
  /// first is not said.
  virtual llvm::Error
  addAll(uint64_t Count, llvm::function_ref<std::string(uint64_t)> Path,
         llvm::function_ref<void(uint64_t, llvm::raw_ostream &)> Write) = 0;
};

/// One `emit` block of one program, as a backend sees it.
struct EmitRequest {
  const ir::Program &Program;
  const ir::EmitSpec &Emit;
  /// File to write if the block names none; from the job's file name.
  llvm::StringRef DefaultStem;
  /// Where a range stands, `job.fore:12`; empty if nowhere. Not for several
  /// threads at once.
  llvm::function_ref<std::string(SourceRange)> Where = nullptr;
};

/// One row of Backends.def, constant.
struct Backend {
  llvm::StringRef Name;
  llvm::StringRef Summary;
  /// The facts this request needs; options may change them (an `aicb` table
  /// needs only the spec). Also checks the options' names and types and
  /// reports to the engine; emits nothing. Errors whose slugs the block's
  /// `allow` list names are passed to DiagnosticEngine::allow here.
  ir::FactSet (*Prepare)(const ir::EmitSpec &, DiagnosticEngine &);
  /// Whether the format can say this program; reports what it can't.
  bool (*Check)(const EmitRequest &, DiagnosticEngine &);
  /// Writes. Same program, same bytes. Called only after Check succeeded.
  llvm::Error (*Emit)(const EmitRequest &, OutputSet &, DiagnosticEngine &);
  /// The exact command line that runs the format's consumer on \p File, for
  /// `--show-command`; empty if it doesn't read that file. Null if there is no
  /// consumer.
  std::string (*ShowCommand)(const EmitRequest &,
                             llvm::StringRef File) = nullptr;
};

/// Whether \p B speaks of the model alone, not of a job that trains it.
bool isOfModel(const Backend &B);
/// All backends, in the order of Backends.def.
llvm::ArrayRef<Backend> allBackends();
/// The backend with that name, or null.
const Backend *findBackend(llvm::StringRef Name);
/// Of all, for a message.
std::string backendNames();

} // namespace foretrace

#endif
