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

TraceCalibrator::TraceCalibrator(const ir::Program &P,
                                 std::vector<TraceFile> Files)
    : P(P), Files(std::move(Files)), How(TracePlan::recognize(P, this->Files)),
      Plan(P, How), Rows(P, How), Gathered(P, Rows) {}

/// The first divergence of a trace, as an error.
static Error checkTrace(const TracePlan &Plan, const TraceFile &T) {
  std::string First;
  Error E = Plan.hold(
      T,
      [&](const Divergence &D) {
        if (First.empty())
          First = (T.Path + ":" + Twine(D.Line) + ": " + D.Text).str();
      },
      [](const Matcher &) {});
  if (E || First.empty())
    return E;
  return createStringError(
      First + "; only a run that is as planned can be measured, see "
              "`foretrace check`");
}

Error TraceCalibrator::gather() {
  for (const TraceFile &T : Files) {
    // Before its rows are taken: they are taken by their place alone.
    if (Error E = checkTrace(Plan, T))
      return E;
    Gathered.begin(T.Rank, Plan.map().coordinate(T.Rank, ir::Axis::Pp));
    Expected<int64_t> Lines = forEachLine(T.Path, [&](const TraceLine &Line) {
      Gathered.take(Line.Row);
      return true;
    });
    if (!Lines)
      return Lines.takeError();
  }
  if (Gathered.isEmpty())
    return createFileError(Files.front().Path,
                           createStringError("no row has a duration"));
  return Error::success();
}

void TraceCalibrator::writeProfile(raw_ostream &OS) const {
  const ir::Schedule &S = P.Schedule;
  std::string Comment =
      formatv("{0} of {1} ranks, {2} micro-batches, {3} stages", Files.size(),
              *P.Spec.Parallel.World, S.MicroBatches, S.Stages);
  if (Gathered.isUnderdetermined())
    Comment += "\n# There are fewer kinds of stages than of blocks: what can't "
               "be told apart\n# is counted as layers.";
  runs::writeProfile(Gathered.fit(), Comment, OS);
}

void TraceCalibrator::reportPipelines(const ir::Program &Fitted,
                                      raw_ostream &OS) const {
  if (How.Scaling)
    return; // one rank alone has no pipeline
  const megatron::Replay Times(Fitted, megatron::Skeleton(Fitted, How));
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
