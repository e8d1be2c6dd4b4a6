// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/Emit.h"
#include "backends/output/ConfinedOutputs.h"
#include "ir/Verify.h"
#include "lang/Render.h"
#include "tools/foretrace/Commands.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Pipeline.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace {

static cl::opt<bool>
    ShowCommand("show-command",
                cl::desc("Print the command that runs the simulator on what "
                         "was written"),
                cl::cat(outputCategory()), cl::sub(compileCommand()));

static cl::opt<bool>
    AllowOutside("allow-outside",
                 cl::desc("Let `emit` blocks name files outside of the output "
                          "folder"),
                 cl::cat(outputCategory()), cl::sub(compileCommand()));

/// Brings \p P to the facts \p Needs. An error that the block allows has
/// consequences only a format that needs nothing but the spec can reproduce.
static bool establish(ir::Program &P, ir::FactSet Needs,
                      const ir::EmitSpec &Emit, DiagnosticEngine &Diags) {
  const ir::FactSet Complete = {ir::Fact::Complete};
  if (!runPipeline(P, pipelineFor(Complete), Diags))
    return false;
  if (Diags.usedAllowance() && !Complete.contains(Needs)) {
    Diags.report(Emit.Range, diag::AllowedJobNeedsAicb);
    return false;
  }
  std::vector<const PassInfo *> Rest = pipelineFor(Needs);
  erase_if(Rest, [&](const PassInfo *Pass) {
    return P.Facts.contains(Pass->Establishes);
  });
  return runPipeline(P, Rest, Diags);
}

static void showCommand(const Backend &Format, const EmitRequest &Request,
                        ArrayRef<FileOutputs::File> Written) {
  if (!ShowCommand || !Format.ShowCommand)
    return;
  for (const FileOutputs::File &F : Written) {
    const std::string Command = Format.ShowCommand(Request, F.Path);
    if (!Command.empty())
      (F.Path == "-" ? errs() : outs()) << Command << "\n";
  }
}

void emitOne(const ir::Spec &Spec, const ir::EmitSpec &Emit,
             const SourceMgr &Sources, FileOutputs &Outputs,
             DiagnosticEngine &Diags) {
  const Backend *Format = findBackend(Emit.Backend);
  if (!Format) {
    Diags.report(Emit.Range, diag::UnknownBackend, Emit.Backend,
                 backendNames());
    return;
  }
  Diags.clearAllowed();
  unsigned ErrorsBefore = Diags.errorCount();
  ir::FactSet Needs = Format->Prepare(Emit, Diags);
  ir::Program P;
  P.Spec = Spec;
  if (!establish(P, Needs, Emit, Diags) || Diags.errorCount() != ErrorsBefore)
    return;
  showStatistics(P);
  // A job that is allowed to be wrong is for one that reproduces what follows.
  if (!Diags.usedAllowance() && !ir::verify(P, Diags))
    return;
  std::string Stem = sys::path::stem(jobPath()).str();
  auto Where = [&](SourceRange R) { return lineOf(Sources, R); };
  EmitRequest Request{P, Emit, Stem, Where};
  if (!Format->Check(Request, Diags) || Diags.errorCount() != ErrorsBefore)
    return;
  size_t FilesBefore = Outputs.files().size();
  ConfinedOutputs Confined(Outputs, Emit, Diags);
  const bool IsOfJob = Emit.Range.isValid(); // not of the command line
  OutputSet &Files =
      IsOfJob && !AllowOutside ? static_cast<OutputSet &>(Confined) : Outputs;
  if (Error E = Format->Emit(Request, Files, Diags))
    Diags.report(Emit.Range, diag::CannotWrite, toString(std::move(E)));
  else
    showCommand(*Format, Request, Outputs.files().drop_front(FilesBefore));
}

} // namespace foretrace
