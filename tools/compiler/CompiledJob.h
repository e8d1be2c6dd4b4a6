// SPDX-License-Identifier: Apache-2.0
//
// A job of a session: what it states, and programs as far as passes were run.
#pragma once

#include "passes/StructureCache.h"
#include <functional>
#include <list>

namespace foretrace {

/// Runs passes; false if one failed.
using PassRunner = std::function<bool(
    ir::Program &, llvm::ArrayRef<const PassInfo *>, DiagnosticEngine &)>;

/// Runs each pass once for all that need its facts. Passes that do not depend
/// on numbers are run only if no job of \p Structures has the same structure.
class CompiledJob {
public:
  /// \p Stated is empty if the job has errors, which \p Diags then contains.
  CompiledJob(const PassRunner &Run, StructureCache &Structures,
              std::optional<ir::Spec> Stated, DiagnosticEngine Diags);
  CompiledJob(const CompiledJob &) = delete;
  CompiledJob &operator=(const CompiledJob &) = delete;

  /// Null after an error.
  const ir::Spec *spec() const { return Stated ? &*Stated : nullptr; }
  /// Returns the diagnostics so far.
  llvm::ArrayRef<Diagnostic> diagnostics() const { return Diags.diagnostics(); }
  /// Returns the engine, to report more about the job.
  DiagnosticEngine &engine() { return Diags; }

  /// The program with the facts \p Needs, those that they rest on, and no
  /// other. It is verified. Null after an error, which is reported once.
  const ir::Program *program(ir::FactSet Needs);
  /// Returns the program with all facts.
  const ir::Program *program();
  /// Says that a program with these facts will be asked for: a run that comes
  /// by keeps a copy.
  void expect(ir::FactSet Needs);

  /// The job, if it stated \p Changed: with its own programs and messages, and
  /// the structures of this one's session, which must outlive it.
  std::unique_ptr<CompiledJob> vary(ir::Spec Changed) const;
  /// Returns this job with \p Change applied to what it states, only to be
  /// tried: its diagnostics are not shown. Null if \p Change returns false.
  std::unique_ptr<CompiledJob>
  attempt(llvm::function_ref<bool(ir::Spec &)> Change) const;

  /// Brings \p P, a program of this job that is changed apart from the others,
  /// to the facts \p Needs. It is not verified; false after an error.
  bool establish(ir::Program &P, ir::FactSet Needs);
  /// Returns the program of the largest step of this job with the facts \p
  /// Needs. It is verified. Null after an error, and if the job trains.
  const ir::Program *largestStep(ir::FactSet Needs);

private:
  using Pipeline = std::vector<const PassInfo *>;
  /// The program as the passes have left it; nothing after an error.
  struct Result {
    Pipeline Passes;
    std::optional<ir::Program> Program;
    bool IsVerified = false;
  };

  Result &run(llvm::ArrayRef<const PassInfo *> Passes);
  llvm::ArrayRef<const PassInfo *>
  beginningOf(llvm::ArrayRef<const PassInfo *> Passes) const;

  bool runOn(ir::Program &P, llvm::ArrayRef<const PassInfo *> Passes);

  const PassRunner &Run;
  StructureCache &Structures;
  std::optional<ir::Spec> Stated;
  DiagnosticEngine Diags;
  std::list<Result> Results;
  std::list<ir::Program> LargestSteps;
  std::vector<Pipeline> Expected;
};

} // namespace foretrace
