// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/TracePlan.h"
#include "backends/KnownLayers.h"
#include "backends/megatron/Modes.h"

using namespace llvm;

namespace foretrace::runs {

using megatron::Dialect;
using megatron::Instrumentation;

TracePlan::TracePlan(const ir::Program &P, Instrumentation How)
    : P(P), Map(P.Mesh, *P.Spec.Parallel.RankOrder), Skeleton(P, How) {}

const ir::Program *TracePlan::programOf(CompiledJob &Job, ir::FactSet More) {
  More.insert({ir::Fact::Recompute, ir::Fact::Scheduled, ir::Fact::Sync});
  const ir::Program *P = Job.program(More);
  return P && megatron::checkModes(*P, Job.engine()) ? P : nullptr;
}

int64_t TracePlan::maxReceived() const {
  const ir::Spec &S = P.Spec;
  int64_t TopK = 0;
  for (const ir::BlockSpec &B : S.Model.Blocks)
    if (hasExperts(B))
      TopK = std::max(TopK, *B.Network.number("topk"));
  return *S.Train.Sequence / *S.Parallel.Cp * *S.Train.MicroBatch * TopK *
         *S.Parallel.Ep;
}

Error TracePlan::hold(const TraceFile &Of, const Matcher::Reporter &Report,
                      function_ref<void(const Matcher &)> Done,
                      int64_t MaxLines, size_t MaxBytes) const {
  const std::vector<megatron::TraceRow> Rows =
      Skeleton.rows(Map.coordinate(Of.Rank, ir::Axis::Pp));
  Matcher M(Rows, Of.Rank, P.Spec.Parallel.Schedule.Range, maxReceived(),
            Report);
  bool IsWhole = true;
  Error E = forEachLine(
      Of.Path,
      [&](const TraceLine &Line) {
        if (Line.Malformed.empty()) {
          M.take(Line.Row, Line.Number);
        } else {
          M.skip(Line.Number);
          Report({Line.Number, diag::RunMalformed, Line.Malformed, {}});
        }
        IsWhole = Line.Number < MaxLines;
        return IsWhole;
      },
      MaxBytes);
  if (E)
    return E;
  if (IsWhole)
    M.finish();
  Done(M);
  return Error::success();
}

void TracePlan::sample(ArrayRef<TraceFile> Traces,
                       const Matcher::Reporter &Report) const {
  constexpr size_t MaxTraces = 4;
  constexpr int64_t MaxLines = 1024;
  constexpr size_t MaxBytes = size_t(8) << 20; // lines of real ones have 2 KiB
  for (const TraceFile &T : Traces.take_front(MaxTraces))
    consumeError(hold(T, Report, [](const Matcher &) {}, MaxLines, MaxBytes));
}

/// No schedule places the steps of a scaling run.
static bool looksScaling(const TraceFile &T) {
  bool IsScaling = false;
  consumeError(forEachLine(T.Path, [&](const TraceLine &Line) {
    if (Line.Row.Op != "forward_step")
      return true;
    IsScaling = Line.Row.State == "None";
    return false;
  }));
  return IsScaling;
}

/// Rows that a version never logs count more than missing rows, which may be
/// the job's fault.
Instrumentation TracePlan::recognize(const ir::Program &P,
                                     ArrayRef<TraceFile> Traces) {
  const bool Scaling = looksScaling(Traces.front());
  Instrumentation Best;
  std::pair<size_t, size_t> Least = {SIZE_MAX, SIZE_MAX};
  for (Dialect D : {Dialect::V2, Dialect::V1, Dialect::V2b}) {
    std::pair<size_t, size_t> Count; // unexpected, and all
    TracePlan(P, {D, Scaling}).sample(Traces, [&](const Divergence &What) {
      Count.first += What.Kind == diag::RunUnexpectedRow ||
                     What.Kind == diag::RunUnexpectedCall ||
                     What.Kind == diag::RunCall;
      ++Count.second;
    });
    if (Count < Least) {
      Least = Count;
      Best = {D, Scaling};
    }
  }
  return Best;
}

} // namespace foretrace::runs
