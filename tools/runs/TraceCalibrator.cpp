// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/TraceCalibrator.h"
#include "backends/megatron/Replay.h"
#include "tools/runs/Fit.h"
#include "tools/runs/Profile.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::runs {

std::unique_ptr<CompiledJob> withoutCosts(const CompiledJob &Job) {
  ir::Spec Changed = *Job.spec();
  Changed.Cost = {};
  Changed.Cost.Kind.setDefault(ir::CostKind::Uncosted);
  return Job.vary(std::move(Changed));
}

TraceCalibrator::TraceCalibrator(const ir::Program &P, TracedRun Of)
    : P(P), Run(std::move(Of)), Rows(P, Run.How), Gathered(P, Rows) {}

/// The first thing that `check` would report, as an error.
static Error checkRun(RunChecker &Checker, ArrayRef<TraceFile> Files) {
  std::string First;
  auto Report = [&](const TraceFile &T, const Divergence &D) {
    if (First.empty())
      First = (T.Path + ":" + Twine(D.Line) + ": " + D.Text).str();
  };
  for (const TraceFile &T : Files) {
    if (Error E = Checker.hold(T, [&](const Divergence &D) { Report(T, D); }))
      return E;
    if (!First.empty())
      break;
  }
  if (First.empty())
    Checker.compare(Report);
  if (First.empty())
    return Error::success();
  return createStringError(
      First + "; only a run that is as planned can be measured, see "
              "`foretrace check`");
}

Error TraceCalibrator::gather() {
  RunChecker Checker(P, Run);
  // Before rows are taken: they are taken by their place alone.
  if (Error E = checkRun(Checker, Run.Files))
    return E;
  for (const TraceFile &T : Run.Files) {
    Gathered.begin(T.Rank,
                   Checker.plan().map().coordinate(T.Rank, ir::Axis::Pp));
    if (Error E = forEachLine(T.Path, [&](const TraceLine &Line) {
          Gathered.take(Line.Row);
          return true;
        }))
      return E;
  }
  if (Gathered.isEmpty())
    return createFileError(Run.Files.front().Path,
                           createStringError("no row has a duration"));
  return Error::success();
}

void TraceCalibrator::writeProfile(raw_ostream &OS) const {
  const ir::Schedule &S = P.Schedule;
  std::string Comment = formatv(
      "{0} of {1} ranks, {2} micro-batches, {3} stages", Run.Files.size(),
      *P.Spec.Parallel.World, S.MicroBatches, S.Stages);
  if (Gathered.isUnderdetermined())
    Comment += "\n# There are fewer kinds of stages than of blocks: what can't "
               "be told apart\n# is counted as layers.";
  runs::writeProfile(Gathered.fit(), Comment, OS);
}

void TraceCalibrator::reportPipelines(const ir::Program &Fitted,
                                      raw_ostream &OS) const {
  if (Run.How.Scaling)
    return; // one rank alone has no pipeline
  const megatron::Replay Times(Fitted, megatron::Skeleton(Fitted, Run.How));
  std::vector<double> Errors, Measured, Replayed;
  for (const auto &[Rank, Of] : Gathered.pipelines()) {
    const auto Estimate = static_cast<double>(Times.pipelineTime(Of.Stage));
    for (double Span : Of.Measured) {
      if (Span <= 0)
        continue;
      Errors.push_back(Estimate / Span - 1);
      Measured.push_back(Span);
      Replayed.push_back(Estimate);
    }
  }
  if (Errors.empty())
    return;
  auto [Least, Most] = std::minmax_element(Errors.begin(), Errors.end());
  OS << format("forward and backward: %.1f ms measured, %.1f ms replayed, "
               "%+.1f %% (%+.1f to %+.1f)\n",
               median(Measured) / 1e6, median(Replayed) / 1e6,
               100 * median(Errors), 100 * *Least, 100 * *Most);
}

std::unique_ptr<CompiledJob>
TraceCalibrator::fit(const CompiledJob &Uncosted) const {
  ir::Spec Changed = *Uncosted.spec();
  Changed.Cost = Gathered.fit();
  return Uncosted.vary(std::move(Changed));
}

void TraceCalibrator::report(const ir::Program &Fitted, raw_ostream &OS) const {
  OS << "family                  samples   error\n";
  for (const Calibration::Family &F : Gathered.errors(Fitted))
    OS << format("%-22s %8zu %6.1f %%\n", F.Name.c_str(), F.Samples,
                 100 * F.Error);
  reportPipelines(Fitted, OS);
}

} // namespace foretrace::runs
