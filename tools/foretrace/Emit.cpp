// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/Emit.h"
#include "backends/Backend.h"
#include "tools/foretrace/Commands.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Pipeline.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
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

/// Whether \p Path leads out of the folder it is relative to.
static bool leadsOutside(StringRef Path) {
  SmallString<128> Plain(Path);
  sys::path::remove_dots(Plain, /*remove_dot_dot=*/true);
  return sys::path::is_absolute(Plain) ||
         (!Plain.empty() && *sys::path::begin(Plain) == "..");
}

namespace {
/// The files of a block that stands in a job, which must not choose where on
/// the machine they land.
class ConfinedOutputs final : public OutputSet {
public:
  ConfinedOutputs(FileOutputs &Inner, const ir::EmitSpec &Emit,
                  DiagnosticEngine &Diags)
      : Inner(Inner), Emit(Emit), Diags(Diags) {}

  Error add(StringRef Path, function_ref<void(raw_ostream &)> Write) override {
    if (!leadsOutside(Path))
      return Inner.add(Path, Write);
    if (!HasReported)
      Diags.report(findPlace(), diag::OutsideFolder, Path);
    HasReported = true;
    return Error::success();
  }

private:
  /// The option that leads outside.
  SourceRange findPlace() const {
    for (const ir::NamedAttribute &Option : Emit.Options.Fields)
      if (Option.Value.K == ir::Attribute::Kind::Text &&
          leadsOutside(Option.Value.Text))
        return Option.Value.Range;
    return Emit.Range;
  }

  FileOutputs &Inner;
  const ir::EmitSpec &Emit;
  DiagnosticEngine &Diags;
  bool HasReported = false;
};
} // namespace

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
             FileOutputs &Outputs, DiagnosticEngine &Diags) {
  const Backend *Format = findBackend(Emit.Backend);
  if (!Format) {
    std::string Known = join(
        map_range(allBackends(), [](const Backend &B) { return B.Name.str(); }),
        ", ");
    Diags.report(Emit.Range, diag::UnknownBackend, Emit.Backend, Known);
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

  std::string Stem = sys::path::stem(jobPath()).str();
  EmitRequest Request{P, Emit, Stem};
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
