// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/CheckLog.h"
#include "backends/optimus/Job.h"
#include "backends/optimus/Optimus.h"
#include "passes/PassManager.h"
#include "tools/foretrace/DivergencePrinter.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"
#include "tools/runs/LogMatcher.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace foretrace {

std::unique_ptr<MemoryBuffer> openLog(const std::vector<std::string> &Paths) {
  if (Paths.size() != 1 || sys::fs::is_directory(Paths.front()))
    return nullptr;
  auto Buffer = MemoryBuffer::getFile(Paths.front());
  if (!Buffer || !runs::isLog((*Buffer)->getBuffer()))
    return nullptr;
  return std::move(*Buffer);
}

/// The job's own `emit optimus`, or one without options.
static ir::EmitSpec emitOf(const ir::Spec &Job) {
  for (const ir::EmitSpec &E : Job.Emits)
    if (E.Backend == "optimus")
      return E;
  ir::EmitSpec Plain;
  Plain.Backend = "optimus";
  Plain.Options.K = ir::Attribute::Kind::Section;
  return Plain;
}

static runs::Divergence describe(const runs::LogDifference &D, StringRef Text,
                                 SourceRange Why) {
  runs::Divergence Out;
  Out.Expected = D.Expected;
  Out.Seen = D.Seen;
  Out.Why = Why;
  if (D.Offset == StringRef::npos) {
    Out.Kind = runs::DivergenceKind::MissingLine;
    Out.Text = "`" + D.What + "` is not in the log; expected " + D.Expected;
    if (!D.Seen.empty())
      Out.Text += ", " + D.Seen;
    return Out;
  }
  Out.Line = static_cast<int64_t>(Text.take_front(D.Offset).count('\n')) + 1;
  Out.Kind = runs::DivergenceKind::LogLine;
  Out.Text = "`" + D.What + "` is " + D.Seen + "; expected " + D.Expected;
  return Out;
}

ExitCode checkLog(const ir::Spec &Job, const MemoryBuffer &Log,
                  const std::vector<runs::Allowance> &Allowed,
                  const SourceMgr &Sources, DiagnosticEngine &Diags) {
  const ir::EmitSpec Emit = emitOf(Job);
  ir::Program P;
  P.Spec = Job;
  const EmitRequest Request{P, Emit, jobPath()};
  runPasses(P, pipelineFor(optimus::prepare(Emit, Diags)), Diags, {});
  if (Diags.hasErrors() || !optimus::check(Request, Diags))
    return showMessages(Diags, Sources);
  const runs::TraceFile Of{Log.getBufferIdentifier().str(), -1};
  std::unique_ptr<DivergencePrinter> Printer =
      DivergencePrinter::create(Sources);
  CheckSummary Summary;
  auto Report = [&](const runs::LogDifference &D) {
    const runs::Divergence Found =
        describe(D, Log.getBuffer(), P.Spec.Parallel.Pp.Range);
    if (any_of(Allowed,
               [&](const runs::Allowance &A) { return A.covers(Found, -1); })) {
      ++Summary.Tolerated;
      return;
    }
    ++Summary.Divergences;
    Printer->print(Finding{{Of}, {Found}});
  };
  runs::LogSummary Seen;
  optimus::withJob(Request, [&](const optimus::Job &J) {
    Seen = runs::matchLog(J, Log.getBuffer(), Report);
  });
  Summary.Ranks = Seen.Ranks;
  Summary.World = *P.Spec.Parallel.World;
  Summary.Rows = Seen.Statements;
  Summary.Iterations = Seen.Steps;
  Summary.IsLog = true;
  Printer->finish(Summary);
  return Summary.Divergences == 0 ? ExitSuccess : ExitDiagnosed;
}

} // namespace foretrace
