// SPDX-License-Identifier: Apache-2.0
//
// A row of a trace skeleton. backends/megatron says which row stands where, and
// what its shapes follow from; rows and calls know their ops.
#include "backends/megatron/Megatron.h"
#include "backends/megatron/Replay.h"
#include "backends/megatron/Skeleton.h"
#include "ir/model/Measure.h"
#include "tools/explain/Emitted.h"
#include "tools/explain/Explain.h"
#include "tools/explain/Ops.h"
#include "tools/explain/RowTimes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace llvm;

namespace foretrace::explain {

namespace {

class RowExplainer {
public:
  /// \p Duration, in ns, is none of a trace that leaves it blank.
  RowExplainer(const megatron::Skeleton &Trace, const megatron::Row &R,
               int64_t Index, std::optional<int64_t> Duration)
      : P(Trace.program(), ir::ExprTable(&Trace.sizes())),
        Make(Trace.program().Spec, P.Sizes), Of(Trace.program()), Row(R),
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
  void addTensor(Subject &To, const megatron::LoggedTensor &T);

  ir::ExprOverlay P;
  const FigureMaker Make;
  const ir::Program &Of; ///< whose ops they are
  const megatron::Row &Row;
  const megatron::RowBody &Body;
  const std::string Name;
  const std::optional<int64_t> Duration;
  std::optional<RowTimeMaker> Times;
  Subjects Found;
};

} // namespace

/// Each dimension that a trace shows, and the bytes of all.
void RowExplainer::addTensor(Subject &To, const megatron::LoggedTensor &T) {
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
  if (isCompute(Row.From.Kind) || isMessage(Row.From.Kind))
    S.What += formatv(", micro-batch {0}, chunk {1}", Row.From.MicroBatch,
                      Row.From.Chunk);
  if (Body.Tensor)
    addTensor(S, *Body.Tensor);
  if (Times)
    S.Figures.push_back(Times->row(Row, *Duration));
  Found.push_back(std::move(S));
}

void RowExplainer::call(size_t First, size_t Count) {
  const megatron::SubOperation &C = Body.SubOperations[First];
  Subject S;
  if (C.Of)
    S = describeOp(Of, *C.Of);
  const std::string Alike =
      Count == 1 ? "" : formatv(" of {0} alike", Count).str();
  S.What = formatv("{0}, call {1}{2}, {3} over {4}, {5}{6}", Name, First, Alike,
                   megatron::commName(C.Comm), getName(C.Group),
                   C.Of ? "for " : "of ", C.Of ? S.What : C.Name.str());
  addTensor(S, C.Tensor);
  if (Times)
    S.Figures.push_back(Times->call(C));
  Found.push_back(std::move(S));
}

/// Those of layers that are alike once.
void RowExplainer::calls() {
  using Content = std::tuple<const ir::Op *, StringRef, StringRef,
                             megatron::GroupKind, std::string>;
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
  for (const megatron::Transfer &T : Body.Transfers)
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

Expected<Subjects> explainMegatronRow(const ir::Program &P, int64_t Rank,
                                      int64_t Index) {
  if (Error E = checkRank(P, Rank))
    return E;
  DiagnosticEngine Diags;
  const ir::EmitSpec Block = firstBlock(P.Spec, "megatron");
  const megatron::Options Options = megatron::readOptions(Block, Diags);
  if (Diags.hasErrors() || !megatron::check({P, Block, ""}, Options, Diags))
    return errorOf("--emit", Diags);
  const megatron::Skeleton Trace(P, Options.How);
  std::optional<megatron::Replay> Times;
  if (Options.Durations == megatron::Durations::Estimated)
    Times.emplace(P, Trace);
  int64_t Count = 0;
  Subjects Found;
  Trace.forEachRow(stageOf(P, Rank), [&](const megatron::Row &R) {
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

} // namespace foretrace::explain
