// SPDX-License-Identifier: Apache-2.0
//
// Derives a row of a trace skeleton. The skeleton has the rows in order, each
// with the ops of its calls and the expressions of its shapes.
#include "backends/Locate.h"
#include "analysis/TimeDerivation.h"
#include "backends/Backends.h"
#include "backends/megatron/Options.h"
#include "backends/megatron/Replay.h"
#include "backends/megatron/Skeleton.h"
#include "backends/megatron/Timing.h"
#include "ir/model/Measure.h"
#include "ir/model/OpKinds.h"
#include "ir/ranks/StepOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <map>

using namespace llvm;

namespace foretrace::megatron {

namespace {

/// Derives the durations that Timing and Replay estimate.
class RowTimeMaker {
public:
  /// \p P has costs and links, and must outlive the maker.
  explicit RowTimeMaker(const ir::Program &P) : P(P), Of(P), Ops(P) {}

  /// Derives \p Duration, that of a row: its own work, and the remainder, which
  /// it spends waiting.
  DerivedFigure row(const TraceRow &R, int64_t Duration);
  /// Derives the duration of a call.
  DerivedFigure call(const SubOperation &C);

private:
  Derivation computing(const TraceRow &R, const ir::Stage &S);
  Derivation transfer(const TraceMessage &M);
  DerivedOperand within(const RowBody &B) const;

  const ir::Program &P;
  const Timing Of;
  TimeMaker Ops;
};

} // namespace

static DerivedOperand counted(std::string Name, int64_t Value, StringRef Unit,
                              StringRef What) {
  DerivedOperand O;
  O.Name = std::move(Name);
  O.Value = Value;
  O.Unit = Unit;
  O.Why = Reason::Counted;
  O.Counts = What;
  return O;
}

/// Returns the sum of those \p Parts that are not 0.
static Derivation sumOf(std::vector<DerivedOperand> Parts) {
  erase_if(Parts, [](const DerivedOperand &O) { return O.Value == 0; });
  std::string Formula = Parts.empty() ? "0" : "$0";
  for (size_t I = 1; I < Parts.size(); ++I)
    Formula += "+$" + std::to_string(I);
  return makeDerivation(Formula, std::move(Parts));
}

DerivedOperand RowTimeMaker::within(const RowBody &B) const {
  return counted("within", Of.within(B), "ns",
                 "calls, what moves without one, and the scaling of "
                 "gradients");
}

/// Derives the time of the chunk's blocks, or returns the measured time of the
/// row. An estimate of a step includes its calls.
Derivation RowTimeMaker::computing(const TraceRow &R, const ir::Stage &S) {
  const RowKind Kind = R.Body->Kind;
  const bool IsForward = Kind == RowKind::ForwardStep;
  if (!IsForward && Kind != RowKind::BackwardStep) {
    if (Kind != RowKind::OptimizerStep)
      return Ops.measured(getName(Kind));
    std::vector<const ir::Op *> Updates;
    for (const ir::Op &O : P.Blocks[S.Step].Ops)
      if (O.Kind == ir::OpKind::Optimizer)
        Updates.push_back(&O);
    return Ops.make("", Updates).From;
  }
  if (Of.isEstimated()) {
    const int64_t Time = Of.stepTime(*R.Body, S, R.From.Chunk);
    return makeDerivation(
        "max($0-$1,0)",
        {makeDerived("step", Time, "ns",
                     Ops.step(S.layersOf(R.From.Chunk),
                              IsForward ? ir::ActionKind::Forward
                                        : ir::ActionKind::Backward,
                              Nanoseconds(Time))),
         within(*R.Body)});
  }
  std::map<unsigned, int64_t> Layers; ///< by block
  for (const ir::LayerGroup &G : S.layersOf(R.From.Chunk))
    for (const ir::BlockRun &Run : G.Runs)
      Layers[Run.Block.Index] += Run.Count * G.Periods;
  const auto Step =
      IsForward ? ir::ActionKind::Forward : ir::ActionKind::Backward;
  std::string Formula;
  std::vector<DerivedOperand> Blocks;
  for (const auto &[Index, Count] : Layers) {
    const ir::Block &B = P.Blocks[ir::BlockId(Index)];
    std::vector<const ir::Op *> Run;
    for (const auto &[O, Action] : zip_equal(B.Ops, actionsOf(B)))
      if (ir::runs(Step, Action))
        Run.push_back(&O);
    DerivedFigure Block = Ops.make("", Run);
    Formula += (Formula.empty() ? "" : "+") + std::to_string(Count) + "*$" +
               std::to_string(Blocks.size());
    Blocks.push_back(
        makeDerived(B.Name, Block.Value, "ns", std::move(Block.From)));
  }
  return makeDerivation(Formula, std::move(Blocks));
}

/// Derives the time of a message, rounded to the nearest nanosecond.
Derivation RowTimeMaker::transfer(const TraceMessage &M) {
  const int64_t Ranks = Of.groupSize(*M.Ranks);
  if (Of.isEstimated() && Ranks > 1) {
    const int64_t Size =
        std::llrint(Timing::messageSize(M.Comm, Ranks, Of.wireBytes(M)));
    return M.Comm ? Ops.collective(*M.Comm, M.Ranks->Group, Size)
                  : TimeMaker::message(
                        counted("bytes", Size, "", "the tensor that is sent"));
  }
  const ir::LinkSpec *Link = P.Spec.Cost.findLink(Timing::linkOf(*M.Ranks));
  if (!Link || Ranks == 1)
    return makeDerivation("0", {});
  return makeDerivation(
      "$0+floor($1*1000000000+floor($2,2),$2)",
      {makeStated("latency", *Link->Latency, "ns", Link->Latency.Range),
       counted("sent", std::llrint(Of.wireBytes(M)), "bytes",
               "what each rank sends, as NCCL tests reckon bus bandwidth"),
       makeStated("bandwidth", *Link->Bandwidth, "B/s",
                  Link->Bandwidth.Range)});
}

DerivedFigure RowTimeMaker::call(const SubOperation &C) {
  const TraceMessage M = Of.messageOf(C);
  return {"duration", Of.transfer(M), "ns", transfer(M)};
}

DerivedFigure RowTimeMaker::row(const TraceRow &R, int64_t Duration) {
  const RowBody &B = *R.Body;
  const ir::Stage &S = stageAt(P.Stages, R.Stage);
  std::vector<DerivedOperand> Parts;
  if (const int64_t Own = Of.compute(B, S, R.From.Chunk))
    Parts.push_back(makeDerived("computing", Own, "ns", computing(R, S)));
  if (const auto M = Of.messageOf(B))
    Parts.push_back(
        makeDerived("message", Of.transfer(*M), "ns", transfer(*M)));
  Parts.push_back(within(B));
  Parts.push_back(counted("waiting", Duration - Of.total(B, S, R.From.Chunk),
                          "ns", "until all who take part are there"));
  return {"duration", Duration, "ns", sumOf(std::move(Parts))};
}

namespace {

/// Derives the numbers of one row.
class RowExplainer {
public:
  /// \p Duration is in ns; nothing for a trace that leaves it blank.
  RowExplainer(const Skeleton &Trace, const TraceRow &R, int64_t Index,
               std::optional<int64_t> Duration)
      : P(Trace.program(), ir::ExprTable(&Trace.sizes())),
        Make(Trace.program().Spec, P.Sizes), Of(Trace.program()), Shown(R),
        Body(*R.Body), Name(formatv("row {0}, {1}", Index, getName(Body.Kind))),
        Duration(Duration) {
    if (Duration)
      Times.emplace(Of);
  }

  Subjects run();

private:
  void row();
  void calls();
  void call(size_t First, size_t Count);
  void transfers();
  void addTensor(Subject &To, const LoggedTensor &T);

  ir::ExprOverlay P;
  const FigureMaker Make;
  const ir::Program &Of; ///< the program of the ops
  const TraceRow &Shown;
  const RowBody &Body;
  const std::string Name;
  const std::optional<int64_t> Duration;
  std::optional<RowTimeMaker> Times;
  Subjects Found;
};

} // namespace

/// Adds each dimension that a trace shows, and the bytes of the tensor.
void RowExplainer::addTensor(Subject &To, const LoggedTensor &T) {
  ir::Expr Size = ir::numberOf(P, bytesPerElement(T.Element));
  for (const auto &[Dim, E] : enumerate(T.Extents)) {
    if (E.isReceived())
      continue;
    const ir::Expr Extent = E.from().isValid() ? ir::Expr(P.Sizes, E.from())
                                               : ir::numberOf(P, E.size());
    To.Figures.push_back(Make.make(formatv("input__shape[{0}]", Dim).str(),
                                   ir::ElementExpr(Extent)));
    Size *= Extent;
  }
  To.Figures.push_back(Make.make(
      T.isReceived() ? "message, of each of the R rows that a router sends"
                     : "message",
      ir::ByteExpr(Size)));
}

void RowExplainer::row() {
  Subject S{Name, {Body.Why, "megatron", ""}, {}};
  if (Body.Group)
    S.What += formatv(" over {0}", getName(*Body.Group));
  if (isCompute(Shown.From.Kind) || isMessage(Shown.From.Kind))
    S.What += formatv(", micro-batch {0}, chunk {1}", Shown.From.MicroBatch,
                      Shown.From.Chunk);
  if (Body.Tensor)
    addTensor(S, *Body.Tensor);
  if (Times)
    S.Figures.push_back(Times->row(Shown, *Duration));
  Found.push_back(std::move(S));
}

void RowExplainer::call(size_t First, size_t Count) {
  const SubOperation &C = Body.SubOperations[First];
  Subject S;
  if (C.Of)
    S = describeOp(Of, *C.Of);
  const std::string Alike =
      Count == 1 ? "" : formatv(" of {0} alike", Count).str();
  S.What = formatv("{0}, call {1}{2}, {3} over {4}, {5}{6}", Name, First, Alike,
                   commName(C.Comm), getName(C.Group), C.Of ? "for " : "of ",
                   C.Of ? S.What : C.Name.str());
  addTensor(S, C.Tensor);
  if (Times)
    S.Figures.push_back(Times->call(C));
  Found.push_back(std::move(S));
}

/// Adds the calls; equal calls of equal layers once.
void RowExplainer::calls() {
  using Content =
      std::tuple<const ir::Op *, StringRef, StringRef, GroupKind, std::string>;
  std::map<Content, size_t> Places;
  std::vector<std::pair<size_t, size_t>> Kinds; ///< the first, how many
  for (const auto &[Index, C] : enumerate(Body.SubOperations)) {
    const Content Which = {C.Of, C.Function, C.Name, C.Group,
                           printShape(C.Tensor.Extents)};
    const size_t At = Places.try_emplace(Which, Kinds.size()).first->second;
    if (At == Kinds.size())
      Kinds.emplace_back(Index, 0);
    ++Kinds[At].second;
  }
  for (const auto &[First, Count] : Kinds)
    call(First, Count);
}

void RowExplainer::transfers() {
  SmallSetVector<const ir::Op *, 4> Ops;
  for (const Transfer &T : Body.Transfers)
    Ops.insert(T.Of);
  for (const ir::Op *O : Ops) {
    Subject S = describeOp(Of, *O);
    S.What = formatv("{0}, {1} {2}", Name,
                     Body.Group ? "for" : "moves without a call:", S.What);
    S.Figures.push_back(Make.make("message", O->Message));
    Found.push_back(std::move(S));
  }
}

Subjects RowExplainer::run() {
  row();
  calls();
  transfers();
  return std::move(Found);
}

/// Derives a row, from 1, of the trace of a rank: the row, its calls, and what
/// it transfers without a call.
Expected<Subjects> locate(const EmitRequest &Request, const Options &O,
                          const CellQuery &Asked) {
  const ir::Program &P = Request.Program;
  const int64_t Rank = *Asked.Rank, Index = *Asked.Row;
  if (Error E = checkRank(P, Rank))
    return E;
  DiagnosticEngine Diags;
  if (!check(Request, O, Diags))
    return errorOf("--emit", Diags);
  const Skeleton Trace(P, O.How);
  std::optional<IterationReplay> Times;
  if (hasDurations(O, P))
    Times.emplace(P, Trace);
  int64_t Count = 0;
  Subjects Found;
  Trace.forEachRow(stageOf(P, Rank), [&](const TraceRow &R) {
    if (++Count == Index) {
      std::optional<int64_t> Duration;
      if (Times && !Times->isStuck())
        Duration = Times->times(R, static_cast<size_t>(Index - 1)).Duration;
      Found = RowExplainer(Trace, R, Index, Duration).run();
    }
    return Count != Index;
  });
  if (Found.empty())
    return createStringError(
        formatv("--row: the trace of rank {0} has {1} rows, from 1", Rank,
                Count)
            .str());
  return Found;
}

} // namespace foretrace::megatron
