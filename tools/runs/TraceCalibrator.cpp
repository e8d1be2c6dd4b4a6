// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/TraceCalibrator.h"
#include "backends/megatron/Replay.h"
#include "tools/runs/Calibration.h"
#include "tools/runs/Fit.h"
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
  // Checks the run first, since rows are taken by their place alone.
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

std::optional<TraceCalibrator::Pipelines>
TraceCalibrator::replayPipelines(const ir::Program &Fitted) const {
  if (Run.How.Scaling)
    return std::nullopt; // one rank alone has no pipeline
  const megatron::IterationReplay Times(Fitted,
                                        megatron::Skeleton(Fitted, Run.How));
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
    return std::nullopt;
  auto [Least, Most] = std::minmax_element(Errors.begin(), Errors.end());
  return Pipelines{Errors.size(),  median(Measured), median(Replayed),
                   median(Errors), *Least,           *Most};
}

std::unique_ptr<CompiledJob>
TraceCalibrator::fit(const CompiledJob &Uncosted) const {
  ir::Spec Changed = *Uncosted.spec();
  Changed.Cost = Gathered.fit();
  return Uncosted.vary(std::move(Changed));
}

static std::string textOf(const char *Format, double Number) {
  std::string Text;
  raw_string_ostream(Text) << format(Format, Number);
  return Text;
}

void TraceCalibrator::report(const ir::Program &Fitted, RowFormat As,
                             raw_ostream &OS) const {
  const bool IsText = As == RowFormat::Table;
  std::vector<RowColumn> Columns = {
      {"family", false, 22, " "},
      {"samples", true, 8, " "},
      {IsText ? "error" : "error_percent", true, 8}};
  if (!IsText)
    Columns.insert(Columns.end(),
                   {{"measured_ms", true}, {"replayed_ms", true}});
  RowWriter Table(std::move(Columns), As, OS);
  for (const Calibration::Family &F : Gathered.errors(Fitted)) {
    std::vector<std::string> Row = {
        F.Name, std::to_string(F.Samples),
        textOf(IsText ? "%.1f %%" : "%.1f", 100 * F.Error)};
    Row.resize(IsText ? 3 : 5);
    Table.write(Row);
  }
  const std::optional<Pipelines> Of = replayPipelines(Fitted);
  if (!Of)
    return;
  if (IsText)
    OS << format("forward and backward: %.1f ms measured, %.1f ms replayed, "
                 "%+.1f %% (%+.1f to %+.1f)\n",
                 Of->Measured / 1e6, Of->Replayed / 1e6, 100 * Of->Error,
                 100 * Of->Least, 100 * Of->Most);
  else
    Table.write({"forward and backward", std::to_string(Of->Samples),
                 textOf("%.1f", 100 * Of->Error),
                 textOf("%.1f", Of->Measured / 1e6),
                 textOf("%.1f", Of->Replayed / 1e6)});
}

} // namespace foretrace::runs
