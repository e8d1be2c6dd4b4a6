// SPDX-License-Identifier: Apache-2.0
#include "analysis/Figures.h"
#include "backends/Backends.h"
#include "backends/optimus/Job.h"
#include "lang/ReadFile.h"
#include "passes/PassManager.h"
#include "tools/runs/Check.h"
#include "tools/runs/LogMatcher.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace foretrace::runs {

Expected<std::unique_ptr<MemoryBuffer>> openLog(ArrayRef<std::string> Paths) {
  if (Paths.size() != 1 || sys::fs::is_directory(Paths.front()))
    return nullptr;
  ErrorOr<std::unique_ptr<MemoryBuffer>> Buffer = readLargeFile(Paths.front());
  if (!Buffer)
    return createFileError(Paths.front(), Buffer.getError());
  if (!isLog((*Buffer)->getBuffer()))
    return nullptr;
  return std::move(*Buffer);
}

/// The job's own `emit optimus`, or one without options.
static ir::EmitSpec emitOf(const ir::Spec &Job) {
  for (const ir::EmitSpec &E : Job.Emits)
    if (E.Backend == "optimus")
      return E;
  return ir::EmitSpec::plain("optimus");
}

static Divergence describe(const LogDifference &D, StringRef Text,
                           SourceRange Why) {
  Divergence Out;
  Out.Expected = D.Expected;
  Out.Seen = D.Seen;
  Out.Why = Why;
  if (D.Offset == StringRef::npos) {
    Out.Kind = diag::RunMissingLine;
    Out.Text = "`" + D.What + "` is not in the log; expected " + D.Expected;
    if (!D.Seen.empty())
      Out.Text += ", " + D.Seen;
    return Out;
  }
  Out.Line = static_cast<int64_t>(Text.take_front(D.Offset).count('\n')) + 1;
  Out.Kind = diag::RunLogLine;
  Out.Text = "`" + D.What + "` is " + D.Seen + "; expected " + D.Expected;
  return Out;
}

std::optional<CheckSummary> checkLog(CompiledJob &Job, const MemoryBuffer &Log,
                                     const CheckOptions &Options,
                                     RunReport &Out) {
  constexpr int64_t NoRank = -1; // all write to one terminal
  DiagnosticEngine &Diags = Job.engine();
  const ir::EmitSpec Emit = emitOf(*Job.spec());
  const optimus::Options Read = optimus::readOptions(Emit, Diags);
  const ir::Program *P = Job.program(optimus::needs(Read));
  if (!P)
    return std::nullopt;
  ir::ExprOverlay Sizes(*P);
  JobFigures Figures(Sizes, Validity::ThisJob);
  const EmitRequest Request{*P, Figures, Emit, /*DefaultStem=*/""};
  if (!optimus::check(Request, Read, Diags))
    return std::nullopt;
  const TraceFile Of{Log.getBufferIdentifier().str(), NoRank};
  CheckSummary Summary;
  auto Report = [&](const LogDifference &D) {
    const Divergence Found =
        describe(D, Log.getBuffer(), P->Spec.Parallel.Pp.Range);
    if (Options.allows(Found, NoRank)) {
      ++Summary.Tolerated;
      return;
    }
    ++Summary.Divergences;
    Out.add(AlikeTraces{{Of}, {Found}});
  };
  const LogSummary Seen =
      matchLog(optimus::PartitionJob(Request, Read), Log.getBuffer(), Report);
  Summary.World = *P->Spec.Parallel.World;
  Summary.setRanks(Seen.Ranks);
  Summary.Rows = Seen.Statements;
  Summary.Iterations = Seen.Steps;
  Summary.IsLog = true;
  Out.finish(Summary);
  return Summary;
}

} // namespace foretrace::runs
