// SPDX-License-Identifier: Apache-2.0
#include "ir/ranks/StepOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Finds the half of weights.
class WeightHalf {
public:
  explicit WeightHalf(const Block &B)
      : B(B), Makers(B.Values.size()), Users(B.Values.size()),
        IsIn(B.Ops.size()) {}

  std::vector<bool> find();

private:
  bool isMadeThere(const Op &O) const;
  bool isUsedThereOnly(const Op &O) const;

  const Block &B;
  std::vector<bool> Makers; ///< by value: its maker is in the half
  /// Users, by value.
  std::vector<llvm::SmallVector<OpId, 2>> Users;
  std::vector<bool> IsIn; ///< by op
};

} // namespace

bool WeightHalf::isMadeThere(const Op &O) const {
  return O.Derivative == Derivative::Param ||
         llvm::any_of(O.Operands, [&](ValueId V) { return Makers[V.Index]; });
}

/// Results that leave the block are used by others, too.
bool WeightHalf::isUsedThereOnly(const Op &O) const {
  bool IsUsed = false;
  for (ValueId V : O.Results) {
    if (llvm::is_contained(B.Signature.InputGradients, V))
      return false;
    for (OpId User : Users[V.Index]) {
      IsUsed = true;
      if (!IsIn[User.Index])
        return false;
    }
  }
  return IsUsed;
}

std::vector<bool> WeightHalf::find() {
  for (const auto &[N, O] : llvm::enumerate(B.Ops)) {
    const OpId I = B.Ops.idAt(N);
    for (ValueId V : O.Operands)
      Users[V.Index].push_back(I);
    if (O.Phase != Phase::Backward || !isMadeThere(O))
      continue;
    IsIn[N] = true;
    for (ValueId V : O.Results)
      Makers[V.Index] = true;
  }
  for (size_t N = B.Ops.size(); N-- > 0;) {
    const Op &O = B.Ops[B.Ops.idAt(N)];
    if (O.Phase == Phase::Backward && isUsedThereOnly(O))
      IsIn[N] = true;
  }
  return std::move(IsIn);
}

Table<OpId, ActionKind> foretrace::ir::actionsOf(const Block &B) {
  const std::vector<bool> IsOfWeights = WeightHalf(B).find();
  auto ActionOf = [&](size_t N) {
    switch (B.Ops[B.Ops.idAt(N)].Phase) {
    case Phase::Forward:
      return ActionKind::Forward;
    case Phase::Recompute:
      return ActionKind::BackwardInput;
    case Phase::Backward:
      return IsOfWeights[N] ? ActionKind::BackwardWeight
                            : ActionKind::BackwardInput;
    case Phase::Step:
      return ActionKind::Step;
    }
    llvm_unreachable("every phase is handled");
  };
  Table<OpId, ActionKind> Out;
  for (size_t N = 0; N < B.Ops.size(); ++N)
    Out.add(ActionOf(N));
  return Out;
}

Nanoseconds foretrace::ir::timeOf(const Program &P, const LayerSequence &Layers,
                                  ActionKind Step) {
  Nanoseconds Sum;
  for (const LayerGroup &G : Layers)
    for (const BlockRun &R : G.Runs) {
      const Block &B = P.Blocks[R.Block];
      const Table<OpId, ActionKind> Actions = actionsOf(B);
      Nanoseconds OfBlock;
      for (const auto &[O, Action] : llvm::zip_equal(B.Ops, Actions))
        if (runs(Step, Action))
          OfBlock += O.exposed();
      Sum += OfBlock * R.Count * G.Periods;
    }
  return Sum;
}

Nanoseconds foretrace::ir::timeOfSteps(const Program &P) {
  Nanoseconds Sum;
  for (const Stage &Of : P.Stages)
    for (const ChunkRun &Chunk : Of.Chunks)
      for (ActionKind Step : {ActionKind::Forward, ActionKind::Backward})
        Sum += timeOf(P, Chunk.Layers, Step) * Chunk.Count * Of.Count *
               P.Schedule.MicroBatches;
  return Sum;
}
