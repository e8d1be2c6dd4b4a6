// SPDX-License-Identifier: Apache-2.0
//
// The rows of a stage's step: gradients are reduced, parameters updated.
#include "backends/megatron/Bodies.h"
#include "backends/megatron/CallShapes.h"
#include "ir/model/Measure.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"
#include <utility>

using namespace foretrace;
using namespace foretrace::megatron;

llvm::StringRef foretrace::megatron::simulation(Instrumentation How) {
  return How.Scaling && !How.isV1() ? "simulation" : "";
}

namespace {

class StepRowMaker {
public:
  StepRowMaker(ir::ExprScope P, const ir::Stage &S, Instrumentation How);

  std::vector<RowBody> run() const {
    return How.Scaling ? scalingRows() : rows();
  }

private:
  ir::Expr countOf(llvm::StringRef Name) const;
  void addTransfers(RowBody &To, bool IsReduction) const;
  RowBody reduction(RowKind Kind, llvm::StringRef Description,
                    ir::Expr Count) const;
  Extents tableShape() const;
  RowBody tied(llvm::StringRef Description) const;
  RowBody optimizer() const;
  std::vector<RowBody> rows() const;
  std::vector<RowBody> scalingRows() const;

  ir::ExprScope P;
  const ir::Block &Step;
  const Instrumentation How;
  // Elements on one rank that the step reduces.
  ir::Expr Dense, Expert;
  bool HasExpertBuffer = false;
  bool IsTied; ///< and two stages hold a copy of the word embedding
};

} // namespace

StepRowMaker::StepRowMaker(ir::ExprScope P, const ir::Stage &S,
                           Instrumentation How)
    : P(P), Step(P->Blocks[S.Step]), How(How), Dense(countOf("grads.dense")),
      Expert(countOf("grads.expert")),
      IsTied(llvm::any_of(Step.Values, [](const ir::Value &V) {
        return V.Name == "grads.word_embeddings";
      })) {
  // Experts get a buffer of their own only if they are spread.
  HasExpertBuffer = Expert.value() > 0 && *P->Spec.Parallel.Ep > 1;
  if (!HasExpertBuffer)
    Dense += std::exchange(Expert, numberOf(P, 0));
}

/// The elements of the gradients \p Name that are updated: each chunk can have
/// a buffer of them.
ir::Expr StepRowMaker::countOf(llvm::StringRef Name) const {
  ir::Expr Sum = numberOf(P, 0);
  for (const ir::Op &O : Step.Ops)
    if (O.Kind == ir::OpKind::Optimizer)
      for (const ir::ValueId V : O.Operands)
        if (llvm::StringRef(Step.Values[V].Name).starts_with(Name))
          Sum += ir::Expr(P.Sizes, Step.Values[V].Type.Dims[0].Size);
  return Sum;
}

/// A row of gradients reduces those of its group; the update gathers all
/// parameters (Megatron-LM, DistributedOptimizer.step_with_ready_grads).
void StepRowMaker::addTransfers(RowBody &To, bool IsReduction) const {
  for (const ir::Op &O : Step.Ops)
    if (movesParameters(O, Step) &&
        (O.Kind != ir::OpKind::AllGather) == IsReduction)
      addTransfer(To, P, O, How);
  if (IsReduction)
    llvm::erase_if(To.Transfers,
                   [&](const Transfer &T) { return T.Group != To.Group; });
}

/// Returns the name that a row of gradients has for its group.
static GroupKind groupOf(RowKind Reduction) {
  switch (Reduction) {
  case RowKind::EpDpAllReduce:
    return GroupKind::EpDp;
  case RowKind::ExpDpAllReduce:
    return GroupKind::ExpDp;
  default:
    return GroupKind::Dp;
  }
}

/// Reduce-scatters of a distributed optimizer are logged without a shape.
RowBody StepRowMaker::reduction(RowKind Kind, llvm::StringRef Description,
                                ir::Expr Count) const {
  RowBody Body;
  Body.Kind = Kind;
  Body.Description = Description;
  Body.Group = groupOf(Kind);
  Body.State = RowState::Finalize;
  Body.Gradients = Elements(Count.value());
  addTransfers(Body, /*IsReduction=*/true);
  if (*P->Spec.Parallel.Zero > 0) {
    Body.Why = P->Spec.Parallel.Zero.Range;
    return Body;
  }
  Body.Tensor = {{Count}, ir::elementTypeOf(*P->Spec.Train.GradPrecision)};
  Body.Why = P->Spec.Model.LayersRange;
  return Body;
}

/// The table of the word embedding on one rank. The first and the last stage
/// hold one each, and reduce the gradients of all of it.
Extents StepRowMaker::tableShape() const {
  const ir::Block &Embedding = P->Blocks[P->Layers.front().Runs.front().Block];
  const auto Table = llvm::find_if(Embedding.Values, [](const ir::Value &V) {
    return V.Kind == ir::ValueKind::Param &&
           V.Type.indexOf(ir::DimKind::Vocab) >= 0;
  });
  return localExtents(P, Table->Type, Table->Layout);
}

RowBody StepRowMaker::tied(llvm::StringRef Description) const {
  RowBody Body;
  Body.Kind = RowKind::EpAllReduce;
  Body.Description = Description;
  Body.Group = GroupKind::Ep;
  Body.Tensor = {tableShape(), ir::elementTypeOf(*P->Spec.Train.GradPrecision)};
  Body.State = RowState::Finalize;
  Body.Why = P->Spec.Model.LayersRange;
  return Body;
}

RowBody StepRowMaker::optimizer() const {
  RowBody Body;
  Body.Kind = RowKind::OptimizerStep;
  Body.State = RowState::Finalize;
  addTransfers(Body, /*IsReduction=*/false);
  return Body;
}

static constexpr llvm::StringLiteral AllGradients =
    "model_chunk.finish_grad_sync(), All-reduce / reduce-scatter across DP "
    "replicas";
static constexpr llvm::StringLiteral DenseGradients =
    "Regular DP gradient synchronization (non-expert parameters)";
static constexpr llvm::StringLiteral ExpertGradients =
    "Expert DP gradient synchronization (expert parameters)";

std::vector<RowBody> StepRowMaker::rows() const {
  std::vector<RowBody> Rows;
  if (!HasExpertBuffer) {
    Rows.push_back(reduction(RowKind::DpAllReduce, AllGradients, Dense));
  } else if (How.isV1()) { // it shows the buffer that it reduced last
    Rows.push_back(reduction(RowKind::DpAllReduce, AllGradients, Expert));
    Rows.back().Gradients += Elements(Dense.value());
  } else {
    const bool IsV2b = How.Dialect == Dialect::V2b;
    Rows.push_back(reduction(RowKind::DpAllReduce, DenseGradients, Dense));
    Rows.push_back(
        reduction(IsV2b ? RowKind::ExpDpAllReduce : RowKind::EpDpAllReduce,
                  ExpertGradients, Expert));
  }
  if (IsTied)
    Rows.push_back(tied("_allreduce_word_embedding_grads"));
  Rows.push_back(optimizer());
  return Rows;
}

/// Scaling runs made some of these rows up.
std::vector<RowBody> StepRowMaker::scalingRows() const {
  const bool IsV2b = How.Dialect == Dialect::V2b;
  std::vector<RowBody> Rows;
  auto AddMadeUp = [&](RowBody Body) {
    Body.Description = simulation(How);
    Body.State = RowState::None;
    Rows.push_back(std::move(Body));
  };
  if (!IsV2b) {
    AddMadeUp(reduction(RowKind::DpAllReduce, "", Dense + Expert));
    if (Rows.back().Tensor) // whatever the run used
      Rows.back().Tensor->Element = ir::ElementType::FP16;
  } else if (HasExpertBuffer) {
    Rows.push_back(reduction(RowKind::DpAllReduce, DenseGradients, Dense));
    Rows.push_back(reduction(RowKind::ExpDpAllReduce, ExpertGradients, Expert));
  } else {
    Rows.push_back(reduction(RowKind::DpAllReduce, AllGradients, Dense));
    Rows.back().State = RowState::None;
  }
  if (IsTied) {
    RowBody Body = tied("Embedding parallel gradient synchronization");
    if (IsV2b)
      Rows.push_back(std::move(Body));
    else
      AddMadeUp(std::move(Body));
  }
  AddMadeUp(optimizer());
  return Rows;
}

std::vector<RowBody> foretrace::megatron::makeStepRows(ir::ExprScope P,
                                                       const ir::Stage &S,
                                                       Instrumentation How) {
  return StepRowMaker(P, S, How).run();
}

/// Returns the group that traces name for the ranks with the parameters that
/// \p O moves. Not all versions distinguish that of experts.
static GroupKind groupKindOf(const ir::Op &O, const ir::Program &P,
                             Instrumentation How) {
  const bool IsV2b = How.Dialect == Dialect::V2b;
  const bool TellsExperts = IsV2b || (!How.isV1() && !How.Scaling);
  if (!TellsExperts || *P.Spec.Parallel.Ep == 1 ||
      !O.Group.spans(ir::Axis::Edp))
    return GroupKind::Dp;
  return IsV2b ? GroupKind::ExpDp : GroupKind::EpDp;
}

void foretrace::megatron::addTransfer(RowBody &To, const ir::Program &P,
                                      const ir::Op &O, Instrumentation How) {
  for (const Bytes Size : messagesOf(P, O))
    To.Transfers.push_back(
        {O.Kind, Size, O.Group.size(P.Mesh), groupKindOf(O, P, How), &O});
}
