// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/RowTimes.h"
#include "ir/model/OpKinds.h"
#include "ir/ranks/StepOps.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using foretrace::megatron::RowKind;

namespace foretrace::explain {

static Operand counted(std::string Name, int64_t Value, StringRef Unit,
                       StringRef What) {
  Operand O;
  O.Name = std::move(Name);
  O.Value = Value;
  O.Unit = Unit;
  O.Why = Reason::Counted;
  O.Counts = What;
  return O;
}

/// The sum of \p Parts that are not 0.
static Derivation sumOf(std::vector<Operand> Parts) {
  erase_if(Parts, [](const Operand &O) { return O.Value == 0; });
  std::string Formula = Parts.empty() ? "0" : "$0";
  for (size_t I = 1; I < Parts.size(); ++I)
    Formula += "+$" + std::to_string(I);
  return makeDerivation(Formula, std::move(Parts));
}

/// Blocks of the chunk, or what is measured of the row.
Derivation RowTimeMaker::computing(const megatron::Row &R, const ir::Stage &S) {
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
  std::map<unsigned, int64_t> Layers; ///< by block
  for (const ir::LayerGroup &G : S.layersOf(R.From.Chunk))
    for (const ir::BlockRun &Run : G.Runs)
      Layers[Run.Block.Index] += Run.Count * G.Periods;
  const auto Step =
      IsForward ? ir::ActionKind::Forward : ir::ActionKind::Backward;
  std::string Formula;
  std::vector<Operand> Blocks;
  for (const auto &[Index, Count] : Layers) {
    const ir::Block &B = P.Blocks[ir::BlockId(Index)];
    std::vector<const ir::Op *> Run;
    for (const auto &[O, Action] : zip_equal(B.Ops, actionsOf(B)))
      if (ir::runs(Step, Action))
        Run.push_back(&O);
    Figure Block = Ops.make("", Run);
    Formula += (Formula.empty() ? "" : "+") + std::to_string(Count) + "*$" +
               std::to_string(Blocks.size());
    Blocks.push_back(
        makeDerived(B.Name, Block.Value, "ns", std::move(Block.From)));
  }
  return makeDerivation(Formula, std::move(Blocks));
}

/// Rounded to the nearest.
Derivation RowTimeMaker::transfer(const megatron::Message &M) const {
  const ir::LinkSpec *Link =
      P.Spec.Cost.findLink(megatron::Timing::linkOf(*M.Ranks));
  if (!Link || Of.groupSize(*M.Ranks) == 1)
    return makeDerivation("0", {});
  return makeDerivation(
      "$0+floor($1*1000000000+floor($2,2),$2)",
      {makeStated("latency", *Link->Latency, "ns", Link->Latency.Range),
       counted("sent", std::llrint(Of.wireBytes(M)), "bytes",
               "what each rank sends, as NCCL tests reckon bus bandwidth"),
       makeStated("bandwidth", *Link->Bandwidth, "B/s",
                  Link->Bandwidth.Range)});
}

Figure RowTimeMaker::call(const megatron::SubOperation &C) const {
  const megatron::Message M = Of.messageOf(C);
  return {"duration", Of.transfer(M), "ns", transfer(M)};
}

Figure RowTimeMaker::row(const megatron::Row &R, int64_t Duration) {
  const megatron::RowBody &B = *R.Body;
  const ir::Stage &S = stageAt(P.Stages, R.Stage);
  std::vector<Operand> Parts;
  if (const int64_t Own = Of.compute(B, S, R.From.Chunk))
    Parts.push_back(makeDerived("computing", Own, "ns", computing(R, S)));
  if (const auto M = Of.messageOf(B))
    Parts.push_back(
        makeDerived("message", Of.transfer(*M), "ns", transfer(*M)));
  Parts.push_back(counted("within", Of.within(B), "ns",
                          "calls, what moves without one, and the scaling of "
                          "gradients"));
  Parts.push_back(counted("waiting", Duration - Of.total(B, S, R.From.Chunk),
                          "ns", "until all who take part are there"));
  return {"duration", Duration, "ns", sumOf(std::move(Parts))};
}

} // namespace foretrace::explain
