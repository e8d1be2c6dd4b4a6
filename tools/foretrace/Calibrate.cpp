// SPDX-License-Identifier: Apache-2.0
//
// `foretrace calibrate`: measures times and links from the traces of a run, and
// how well a replay with them meets the run.
#include "backends/megatron/Replay.h"
#include "passes/PassManager.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"
#include "tools/foretrace/Output.h"
#include "tools/runs/Calibration.h"
#include "tools/runs/Fit.h"
#include "tools/runs/Profile.h"
#include "tools/runs/TracePlan.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace {

static cl::opt<std::string>
    Profile("o", cl::value_desc("file.toml"), cl::init("-"),
            cl::desc("Where the profile goes (default: standard output)"),
            cl::cat(outputCategory()), cl::sub(calibrateCommand()));

namespace {

class Calibrator {
public:
  Calibrator(const ir::Program &P, std::vector<runs::TraceFile> Traces)
      : P(P), Traces(std::move(Traces)),
        How(runs::TracePlan::recognize(P, this->Traces)), Plan(P, How),
        Rows(P, How), Gathered(P, Rows) {}

  /// Error if a trace is not as planned.
  Error gather();
  Error write() const;
  void report(DiagnosticEngine &Diags) const;

private:
  void reportPipelines(const ir::Program &Fitted) const;

  const ir::Program &P;
  const std::vector<runs::TraceFile> Traces;
  const megatron::Instrumentation How;
  const runs::TracePlan Plan;
  const megatron::Skeleton Rows;
  runs::Calibration Gathered;
};

} // namespace

/// The first divergence of a trace, as an error.
static Error checkTrace(const runs::TracePlan &Plan, const runs::TraceFile &T) {
  std::string First;
  Error E = Plan.hold(
      T,
      [&](const runs::Divergence &D) {
        if (First.empty())
          First = (T.Path + ":" + Twine(D.Line) + ": " + D.Text).str();
      },
      [](const runs::Matcher &) {});
  if (E || First.empty())
    return E;
  return createStringError(
      First + "; only a run that is as planned can be measured, see "
              "`foretrace check`");
}

Error Calibrator::gather() {
  for (const runs::TraceFile &T : Traces) {
    if (Error E = checkTrace(Plan, T))
      return E;
    Gathered.begin(T.Rank, Plan.map().coordinate(T.Rank, ir::Axis::Pp));
    Expected<int64_t> Lines =
        runs::forEachLine(T.Path, [&](const runs::TraceLine &Line) {
          Gathered.take(Line.Row);
          return true;
        });
    if (!Lines)
      return Lines.takeError();
  }
  if (Gathered.isEmpty())
    return createFileError(Traces.front().Path,
                           createStringError("no row has a duration"));
  return Error::success();
}

Error Calibrator::write() const {
  const ir::Schedule &S = P.Schedule;
  std::string Comment =
      formatv("{0} of {1} ranks, {2} micro-batches, {3} stages", Traces.size(),
              *P.Spec.Parallel.World, S.microBatches(), S.Stages);
  if (Gathered.isUnderdetermined())
    Comment += "\n# There are fewer kinds of stages than of blocks: what can't "
               "be told apart\n# is counted as layers.";
  FileOutputs Out("", isStream(Profile) ? Profile.getValue() : "");
  if (Error E = Out.add(Profile, [&](raw_ostream &OS) {
        runs::writeProfile(Gathered.fit(), Comment, OS);
      }))
    return E;
  return Out.commit();
}

void Calibrator::reportPipelines(const ir::Program &Fitted) const {
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
  errs() << format("forward and backward: %.1f ms measured, %.1f ms replayed, "
                   "%+.1f %% (%+.1f to %+.1f)\n",
                   runs::median(Measured) / 1e6, runs::median(Replayed) / 1e6,
                   100 * runs::median(Errors), 100 * *Least, 100 * *Most);
}

/// How far the run is from what the profile says of it.
void Calibrator::report(DiagnosticEngine &Diags) const {
  ir::Program Fitted;
  Fitted.Spec = P.Spec;
  Fitted.Spec.Cost = Gathered.fit();
  ir::FactSet Needs = runs::TracePlan::needs();
  Needs.insert(ir::Fact::Costs);
  if (!runPasses(Fitted, pipelineFor(Needs), Diags, {}))
    return;
  errs() << "family                  samples   error\n";
  for (const runs::Calibration::Family &F : Gathered.errors(Fitted))
    errs() << format("%-22s %8zu %6.1f %%\n", F.Name.c_str(), F.Samples,
                     100 * F.Error);
  reportPipelines(Fitted);
}

ExitCode runCalibrate() {
  if (jobPath().empty() || givenTraces().empty())
    return usageError("calibrate: a job or its traces are missing, for example "
                      "`foretrace calibrate job.fore --trace run/`");
  SourceMgr Sources;
  DiagnosticEngine Diags = makeEngine();
  ir::Program P;
  if (!hasFolder(Profile, Diags))
    return showMessages(Diags, Sources);
  if (std::optional<ir::Spec> Spec = readJob(Sources, Diags)) {
    P.Spec = std::move(*Spec);
    P.Spec.Cost = {};
    P.Spec.Cost.Kind.setDefault(ir::CostKind::Uncosted);
    runPasses(P, pipelineFor(runs::TracePlan::needs()), Diags, {});
  }
  if (Diags.hasErrors())
    return showMessages(Diags, Sources);
  auto Fail = [](Error E) {
    errs() << "foretrace: " << toString(std::move(E)) << '\n';
    return ExitDiagnosed;
  };
  Expected<std::vector<runs::TraceFile>> Files =
      runs::findTraces(givenTraces(), *P.Spec.Parallel.World);
  if (!Files)
    return Fail(Files.takeError());
  Calibrator C(P, std::move(*Files));
  if (Error E = C.gather())
    return Fail(std::move(E));
  if (Error E = C.write())
    return Fail(std::move(E));
  if (!isQuiet())
    C.report(Diags);
  return showMessages(Diags, Sources);
}

} // namespace foretrace
