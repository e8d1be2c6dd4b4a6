// SPDX-License-Identifier: Apache-2.0
//
// The `time` backend: the estimated time of an iteration, and what takes it.
#include "analysis/Caveats.h"
#include "analysis/CriticalPath.h"
#include "analysis/DeviceRates.h"
#include "analysis/Figures.h"
#include "analysis/FlopCounter.h"
#include "analysis/OpTimes.h"
#include "analysis/ServiceTime.h"
#include "analysis/TimeDerivation.h"
#include "backends/EmissionOf.h"
#include "backends/figures/JobTables.h"
#include "ir/model/Spellings.h"
#include "lang/NumberText.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <map>

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;

struct timing::Options : FigureOptions {
  bool Changes = false; ///< lists changes that make the iteration shorter
};

constexpr EmitOption timing::OptionRows[] = {
#include "backends/time/Options.def"
};
constexpr EmitReader timing::Reader = readerOf<Options>(OptionRows);

FactSet timing::needs(const Options &) {
  return {Fact::Scheduled, Fact::Totalled, Fact::Costs, Fact::Workspace,
          Fact::Service};
}

/// Returns how a rank of the busiest stage spends the iteration.
static FigureTable partTable(const EmitRequest &Request,
                             const IterationTime &T) {
  FigureTable Table{
      "parts",
      (T.Stages[T.Busiest].Count > 1 ? "of a rank of stages "
                                     : "of a rank of stage ") +
          printRange({T.Stages[T.Busiest].First, T.Stages[T.Busiest].Count}),
      {{"part", FigureUnit::Text},
       {"time", FigureUnit::Time},
       {"share", FigureUnit::Millionths},
       {"hidden", FigureUnit::Time},
       {"largest", FigureUnit::Text}},
      {}};
  for (const TimePart &Of : T.Parts) {
    std::string Where;
    if (Request.Where && Of.Where.isValid())
      Where = Request.Where(Of.Where);
    Table.Rows.push_back({Of.Name, Of.Time.value(),
                          millionths(Of.Time.value(), T.Total.value()),
                          Of.Hidden.value(), std::move(Where)});
  }
  return Table;
}

/// Lines of the job on the critical path, the longest first; the rest is one
/// row.
static FigureTable lineTable(const EmitRequest &Request, const IterationTime &T,
                             const CriticalPath &Path) {
  constexpr size_t MostRows = 10;
  std::map<std::pair<std::string, std::string>, int64_t> Times;
  for (const LineTime &L : Path.Lines)
    Times[{Request.Where && L.Where.isValid() ? Request.Where(L.Where) : "",
           L.Part}] += L.Time.value();
  std::vector<std::pair<std::pair<std::string, std::string>, int64_t>> Rows(
      Times.begin(), Times.end());
  llvm::stable_sort(
      Rows, [](const auto &A, const auto &B) { return A.second > B.second; });
  FigureTable Table{"lines",
                    Path.IsExact
                        ? "of the critical path, by line of the job"
                        : "of the same rank, by line of the job (the schedule "
                          "is too long to find its critical path)",
                    columns({{FigureUnit::Text, "line part"},
                             {FigureUnit::Time, "time"},
                             {FigureUnit::Millionths, "share"}}),
                    {}};
  auto Add = [&](std::string Line, std::string Part, int64_t Time) {
    Table.Rows.push_back({std::move(Line), std::move(Part), Time,
                          millionths(Time, T.Total.value())});
  };
  int64_t Rest = 0;
  for (auto &[Key, Time] : Rows)
    if (Table.Rows.size() < MostRows)
      Add(Key.first, Key.second, Time);
    else
      Rest += Time;
  if (Rest > 0)
    Add("other lines", "", Rest);
  return Table;
}

static FigureTable stageTable(const IterationTime &T,
                              const CriticalPath &Path) {
  FigureTable Table = makeTimeTable(T);
  if (!Path.IsExact)
    return Table;
  Table.Columns.push_back({"critical_time", FigureUnit::Time, "critical"});
  for (const auto &[Row, Critical] : llvm::zip_equal(Table.Rows, Path.Stages))
    Row.push_back(Critical.value());
  return Table;
}

bool timing::check(const EmitRequest &Request, const Options &,
                   DiagnosticEngine &Diags) {
  const SourceRange Cost = Request.Program.Spec.Cost.Kind.Range;
  if (!checkEstimate(Request, Cost.isValid() ? Cost : Request.Emit.Range,
                     Diags))
    return false;
  if (Request.Program.Spec.Serve && !Request.Program.Service) {
    Diags.report(Request.Emit.Range, diag::ServeBackend, Request.Emit.Backend);
    return false;
  }
  warnIfExceeded(Request, deviceMemoryOf(Request.Program.Spec), Diags);
  return true;
}

/// Adds what users of an engine see that decodes.
static void addService(const Program &P, Figures &F) {
  StepClock Clock(P);
  const ServiceTime Of = serviceTimeOf(P, Clock);
  if (!std::isfinite(Of.Token) || !std::isfinite(Of.FirstToken)) {
    F.Notes.push_back("Note: times that users see are unknown, as the laws of "
                      "steps hold for the requests of this job alone.");
    return;
  }
  auto AddTime = [&](llvm::StringLiteral Key, llvm::StringLiteral Title,
                     double Seconds) {
    F.Named.push_back(
        {Key, Title.str(), FigureUnit::Time, roundedTime(Seconds).value()});
  };
  auto AddCount = [&](llvm::StringLiteral Key, llvm::StringLiteral Title,
                      double Value, FigureUnit U = FigureUnit::Count) {
    F.Named.push_back(
        {Key, Title.str(), U, static_cast<int64_t>(std::llround(Value))});
  };
  const auto Tokens = static_cast<double>(*P.Spec.Requests->Output),
             Devices = static_cast<double>(*P.Spec.Parallel.World);
  if (P.Service->Prefill)
    AddTime("ttft", "time to first token", Of.FirstToken);
  AddTime("tpot", "time per output token", Of.Token);
  AddCount("tokens_per_second", "output tokens per device and second",
           Of.RequestsPerSecond * Tokens / Devices);
  AddCount("user_tokens_per_second", "output tokens per user and second",
           1 / Of.Token);
  AddCount("requests_per_hour", "requests per instance and hour",
           3600 * Of.RequestsPerSecond);
  AddCount("running", "sequences that decode, of a replica of attention",
           Of.Running);
  F.Named.push_back(
      {"bound", "bound by", FigureUnit::Text, getName(Of.Bound).str()});
  AddTime("decode_step", "step without prompts", Of.DecodeStep);
  if (!P.Service->Prefill)
    return;
  AddTime("mixed_step", "step with prompts", Of.MixedStep);
  AddCount("mixed_share", "steps with prompts", 1e6 * Of.MixedShare,
           FigureUnit::Millionths);
}

/// Returns the step of a job that serves, and what users see.
static Figures servedFigures(const EmitRequest &Request) {
  const Program &P = Request.Program;
  const IterationTime &T = Request.Figures.iteration();
  Figures F{
      "foretrace.service/1",
      {},
      {partTable(Request, T)},
      {"An estimate: by laws of kernels and collectives with the parameters of "
       "a device profile, and the mean of continuous batching "
       "(docs/serving.md).",
       "Nine of ten published times per output token are within 40 % of it; "
       "times to first tokens are rougher (docs/fidelity.md)."},
      {}};
  const bool HasEngines =
      llvm::any_of(P.Spec.Cost.Kernels, [](const KernelParameter &K) {
        return K.Id == KernelParameterId::HostStep;
      });
  if (!HasEngines)
    F.Notes.push_back("Note: the profile has no table `serving`, so kernels "
                      "have the starts and rates of training.");
  if (P.Service->Decode)
    addService(P, F);
  F.Named.push_back({"step",
                     ("step of " + getSpelling(*P.Spec.Serve->Step)).str(),
                     FigureUnit::Time, T.Total.value()});
  F.Sizes = Request.Figures.scope().Sizes;
  return F;
}

Figures timing::figures(const EmitRequest &Request, const Options &O) {
  const Program &P = Request.Program;
  if (P.Service)
    return servedFigures(Request);
  JobFigures &Of = Request.Figures;
  const IterationTime &T = Of.iteration();
  const DeviceRates Rates(P, T.Total.value());
  const CriticalPath Path = criticalPath(P, T);
  FlopCounter Counter(Of.scope(), {});
  const PhaseWork Work = Counter.iteration();
  Figures F{
      "foretrace.time/2",
      {},
      {partTable(Request, T), lineTable(Request, T, Path), stageTable(T, Path)},
      {"An estimate: by laws of kernels and collectives with the "
       "parameters of a device profile (docs/time.md)."},
      {}};
  auto Add = [&](llvm::StringLiteral Key, const llvm::Twine &Title,
                 FigureUnit U, Figure Value) {
    F.Named.push_back({Key, Title.str(), U, std::move(Value)});
  };
  auto AddFigure = [&](llvm::StringLiteral Key, const llvm::Twine &Title,
                       FigureId Id) {
    if (const std::optional<Expr> Value = Of.of(Id))
      Add(Key, Title, getInfo(Id).Unit, Value->value());
  };
  if (const std::optional<Expr> Time = Of.time())
    F.Named.push_back({"time", "estimated time of an iteration",
                       FigureUnit::Time, Time->value(),
                       [&P, Path] { return TimeMaker(P).iteration(Path); }});
  Add("uncertainty", "uncertainty", FigureUnit::HalfRange,
      static_cast<int64_t>(std::llrint(halfRange(P, T) * 1e6)));
  if (borrowsProfile(P))
    Add("profile", "profile", FigureUnit::Text,
        "borrowed from the " + *P.Spec.Cost.FittedOn);
  AddFigure("tokens_per_second", "tokens per device and second",
            FigureId::TokensPerSecond);
  Add("flops_per_second", "model FLOPs per device and second",
      FigureUnit::Flops, Rates.perSecond(Work.model().Value));
  AddFigure("mfu", Rates.nameOfShare("MFU"), FigureId::Mfu);
  if (Rates.isPeakKnown())
    Add("hfu", Rates.nameOfShare("HFU"), FigureUnit::Millionths,
        Rates.shareOfPeak(Work.hardware().Value));
  AddFigure("exposed", "exposed communication", FigureId::Exposed);
  Add("device_hours", "device hours of a trillion tokens", FigureUnit::Count,
      Rates.hoursOfTrillion(tokensOfIteration(Of.scope()).Value));
  DiagnosticEngine Caveats;
  reportCaveats(P, Caveats);
  for (const Diagnostic &D : Caveats.diagnostics())
    F.Notes.push_back("Note: " + D.text());
  F.Sizes = Of.scope().Sizes;
  F.IsOfTime = O.Changes;
  return F;
}
