// SPDX-License-Identifier: Apache-2.0
#include "analysis/Liveness.h"
#include "analysis/Parameters.h"
#include "analysis/Units.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace foretrace;
using namespace foretrace::ir;

bool foretrace::isOffloaded(const Program &P, const Block &B) {
  const BlockSpec *Spec = P.Spec.Model.findBlock(B.Name);
  return Spec && *P.Spec.offloadOf(*Spec);
}

/// Returns whether the result of \p O overwrites its first operand. A rank's
/// part of a whole sequence is a copy (Megatron-LM, get_batch_on_this_cp_rank).
/// The gradient of the loss is written over the softmax, which forward wrote
/// over the logits (Megatron-LM, tensor_parallel/cross_entropy.py,
/// calculate_gradients; Transformer Engine up to 2.17,
/// pytorch/triton/cross_entropy.py, cross_entropy_forward).
static bool isInPlace(const Op &O) {
  if (O.Kind == OpKind::AllReduce)
    return true;
  if (O.Kind == OpKind::Loss)
    return O.Derivative == Derivative::Input;
  if (O.Kind == OpKind::Broadcast)
    return true;
  if (isView(O.Kind))
    return O.Kind != OpKind::Slice;
  return hasTrait(O.Kind, InPlace) && O.Derivative == Derivative::None;
}

/// Returns whether \p O gathers a weight from the shares of ZeRO 3.
static bool gathersWeight(const Block &B, const Op &O) {
  return O.Kind == OpKind::AllGather &&
         B.Values[O.Operands[0]].Kind == ValueKind::Param;
}

/// Returns whether \p O reduces the gradient of a parameter to shares.
static bool sharesGradient(const Block &B, const Op &O) {
  if (O.Kind != OpKind::ReduceScatter)
    return false;
  const ValueId Of = B.Values[O.Operands[0]].GradientOf;
  return Of.isValid() && B.Values[Of].Kind == ValueKind::Param;
}

Liveness::Liveness(ExprScope P, const Block &B) : Liveness(P, B, true) {}

Liveness::Liveness(ExprScope P, const Block &B, bool IsBesideOthers)
    : P(P), B(B), UnitGradients(unitOf(P, B).Gradients),
      FirstGradient(static_cast<int>(B.Ops.size())),
      FirstBackward(FirstGradient) {
  for (const auto &[Index, O] : llvm::enumerate(B.Ops))
    if (O.Phase != Phase::Forward) {
      FirstBackward = static_cast<int>(Index);
      break;
    }
  share();
  findLives();
  if (!IsBesideOthers)
    return;
  holdPassed();
  findFirstGradient();
  holdLogits();
  holdMask();
}

ValueId Liveness::rootOf(ValueId V) const {
  while (Shared[V.Index] != V)
    V = Shared[V.Index];
  return V;
}

/// Gradients of parts are written where that of the whole will be. Whole
/// weights and their shares are counted elsewhere (analysis/Units.h,
/// StageTotals.cpp).
void Liveness::share() {
  for (size_t I = 0; I < B.Values.size(); ++I)
    Shared.push_back(B.Values.idAt(I));
  auto IsPassed = [&](ValueId V) {
    return llvm::is_contained(B.Signature.received(), V) ||
           llvm::is_contained(B.Signature.passed(), V);
  };
  for (const Op &O : B.Ops) {
    // Other layers read the values that are passed to them.
    if (hasTrait(O.Kind, InPlace) && O.Derivative == Derivative::None &&
        IsPassed(O.Operands.front()))
      continue;
    if (!isInPlace(O) && !gathersWeight(B, O) && !sharesGradient(B, O))
      continue;
    if (O.Derivative == Derivative::Input)
      for (ValueId Part : O.Operands)
        Shared[rootOf(Part).Index] = rootOf(O.Results.front());
    else
      for (ValueId Part : O.Results)
        Shared[Part.Index] = rootOf(O.Operands.front());
  }
}

void Liveness::findLives() {
  constexpr int Unknown = -1;
  std::vector<int> Of(B.Values.size(), Unknown); // storage, by root
  auto Use = [&](ValueId V, int At) {
    const ValueId Root = rootOf(V);
    if (B.Values[Root].Kind == ValueKind::Param)
      return;
    int &Index = Of[Root.Index];
    if (Index == Unknown) {
      Index = static_cast<int>(Storages.size());
      Storages.push_back({Root, At, At});
    }
    Storage &S = Storages[static_cast<size_t>(Index)];
    S.Last = std::max(S.Last, At);
  };
  for (const auto &[I, V] : llvm::enumerate(B.Values))
    if (V.Kind == ValueKind::Input)
      Use(B.Values.idAt(I), -1);
  for (const auto &[I, O] : llvm::enumerate(B.Ops)) {
    const int At = static_cast<int>(I);
    if (At == FirstBackward)
      for (ValueId V : B.Signature.OutputGradients)
        Use(V, At);
    for (ValueId V : O.Operands)
      Use(V, At);
    for (ValueId V : O.Results)
      Use(V, At);
    if (At + 1 == FirstBackward)
      for (ValueId V : B.Signature.Outputs)
        Use(V, At);
  }
  for (ValueId V : B.Signature.InputGradients)
    Use(V, static_cast<int>(B.Ops.size()) - 1);
}

/// Returns the storage of \p V, or null.
Liveness::Storage *Liveness::findStorage(ValueId V) {
  const auto It = llvm::find_if(
      Storages, [&](const Storage &S) { return S.Of == rootOf(V); });
  return It == Storages.end() ? nullptr : &*It;
}

/// Returns whether the backward pass of some layer reads the value \p Name that
/// it receives besides the hidden state.
static bool isSaved(ExprScope P, llvm::StringRef Name) {
  return llvm::any_of(P->Blocks, [&](const Block &Reader) {
    const BlockSpec *Spec = P->Spec.Model.findBlock(Reader.Name);
    if (!Spec)
      return false;
    for (const auto &[Received, V] :
         llvm::zip(Spec->Receives, Reader.Signature.received()))
      if (Received == Name)
        return Liveness::isReadBackward(P, Reader, V);
    return false;
  });
}

bool Liveness::isReadBackward(ExprScope P, const Block &B, ValueId V) {
  Liveness Of(P, B, /*IsBesideOthers=*/false);
  const Storage *S = Of.findStorage(V);
  return S && S->Last >= Of.FirstBackward;
}

/// A value that layers pass besides the hidden state is in memory once: from
/// the layer that makes it on, or from the first one of a chunk that receives
/// it. It is counted there as saved if the backward pass of any layer reads it.
void Liveness::holdPassed() {
  const BlockSpec *Spec = P->Spec.Model.findBlock(B.Name);
  if (!Spec)
    return;
  const Signature &S = B.Signature;
  // Backward passes of other layers read it, even if this one has none.
  const int End = std::max(static_cast<int>(B.Ops.size()) - 1, FirstBackward);
  // If several frozen layers change it one after the other, only the result of
  // the last is saved. The first, which receives none, counts it.
  const bool IsFrozen = FirstBackward == static_cast<int>(B.Ops.size());
  for (const auto &[Name, V] : llvm::zip(Spec->Passes, S.passed()))
    if (!llvm::is_contained(S.Inputs, V) && isSaved(P, Name) &&
        !(IsFrozen && llvm::is_contained(Spec->Receives, Name)))
      if (Storage *Made = findStorage(V)) // else it is a weight's
        Made->Last = End;
  for (const auto &[Name, V] : llvm::zip(Spec->Receives, S.received())) {
    const bool IsPassed = llvm::is_contained(S.Outputs, V);
    if (!isSaved(P, Name) || (Spec->IsEntry && !IsPassed))
      continue;
    Storage *Received = findStorage(V);
    if (Spec->IsEntry)
      Received->Last = End;
    else
      Storages.erase(Storages.begin() + (Received - Storages.data()));
  }
}

/// Megatron-LM, fsdp/src/megatron_fsdp/param_and_grad_buffer.py,
/// main_grad_getter.
void Liveness::findFirstGradient() {
  for (const auto &[I, O] : llvm::enumerate(B.Ops))
    if (O.Derivative == Derivative::Param) {
      FirstGradient = static_cast<int>(I);
      return;
    }
}

/// Returns whether \p T has a score for each token and word.
static bool isLogits(const TensorType &T) {
  return T.indexOf(DimKind::Seq) >= 0 && T.indexOf(DimKind::Vocab) >= 0;
}

/// Core 0.7 makes another tensor of the logits less their maximum, which
/// becomes the softmax; the caller has the logits and their copy in fp32 until
/// the loss is there. Since 0.8 the copy is subtracted from in place
/// (Megatron-LM, tensor_parallel/cross_entropy.py,
/// _VocabParallelCrossEntropy.forward; language_module.py,
/// compute_language_model_loss).
void Liveness::holdLogits() {
  if (*P->Spec.Parallel.Megatron >= MegatronVersion::V0_8)
    return;
  std::optional<Storage> Shifted;
  for (const auto &[I, O] : llvm::enumerate(B.Ops)) {
    const int At = static_cast<int>(I);
    if (O.Kind == OpKind::Reduce && isLogits(B.Values[O.Operands[0]].Type))
      Shifted = {rootOf(O.Operands[0]), At, At}; // of two, the second one
    if (O.Kind != OpKind::Loss || O.Derivative != Derivative::None || !Shifted)
      continue;
    for (Storage &S : Storages)
      if (S.First < At && isLogits(B.Values[S.Of].Type))
        S.Last = std::max(S.Last, At);
    Storages.push_back({Shifted->Of, Shifted->First, At});
  }
}

/// Returns whether \p T has an element for each pair of tokens, of all heads.
static bool isMask(const TensorType &T) {
  return T.indexOf(DimKind::Seq) >= 0 && T.indexOf(DimKind::KvSeq) >= 0 &&
         T.indexOf(DimKind::Heads) < 0;
}

/// Returns whether \p P recomputes core attention of a layer, or a whole layer.
static bool recomputesAttention(const Program &P) {
  return llvm::any_of(P.Blocks, [&](const Block &B) {
    const BlockSpec *Spec = P.Spec.Model.findBlock(B.Name);
    const bool IsWhole = Spec && recomputesLayers(*P.Spec.recomputeOf(*Spec));
    return llvm::any_of(B.Ops, [&](const Op &O) {
      return O.Phase == Phase::Recompute &&
             (IsWhole || hasTrait(O.Kind, Attends));
    });
  });
}

/// A checkpoint saves its arguments, and the mask is one of them where
/// attention or a layer is recomputed (Megatron-LM, tensor_parallel/random.py,
/// CheckpointFunction; transformer/transformer_block.py, _checkpointed_forward,
/// later core/recompute.py; transformer/attention.py,
/// _checkpointed_attention_forward). All layers of a stage save the same one,
/// which is the rank's part of what was read.
void Liveness::holdMask() {
  const auto Mask =
      std::find_if(Storages.rbegin(), Storages.rend(), [&](const Storage &S) {
        return isMask(B.Values[S.Of].Type);
      });
  if (Mask != Storages.rend() && recomputesAttention(*P))
    Mask->Last = static_cast<int>(B.Ops.size()) - 1;
}

/// Until the gradient of a parameter is added to those of other micro-batches,
/// it has the type of the parameter.
Expr Liveness::sizeOf(const Storage &S) const {
  const Value &V = B.Values[S.Of];
  if (!V.GradientOf.isValid() ||
      B.Values[V.GradientOf].Kind != ValueKind::Param)
    return bytesOnRank(P, V);
  const Value &Of = B.Values[V.GradientOf];
  if (*P->Spec.Train.FusedWgrad && isMatrix(Of))
    return numberOf(P, 0);
  return Expr(P.Sizes, V.OnRank.Id) * bytesPerElement(nominalType(*P, Of));
}

Expr Liveness::kept() const {
  llvm::SmallVector<ExprId, 16> Sizes;
  for (const Storage &S : Storages)
    if (S.First < FirstBackward && S.Last >= FirstBackward)
      Sizes.push_back(sizeOf(S));
  return sumOf(P, Sizes);
}

Expr Liveness::liveAt(int Op) const {
  llvm::SmallVector<ExprId, 16> Sizes;
  for (const Storage &S : Storages)
    if (S.First <= Op && Op <= S.Last)
      Sizes.push_back(sizeOf(S));
  if (Op >= FirstGradient)
    Sizes.push_back(UnitGradients);
  return sumOf(P, Sizes);
}

/// The first op of a phase, and the one after the last.
std::pair<int, int> Liveness::opsOf(Phase Of) const {
  return Of == Phase::Forward
             ? std::pair(0, FirstBackward)
             : std::pair(FirstBackward, static_cast<int>(B.Ops.size()));
}

Expr Liveness::any(Phase Of) const {
  std::vector<llvm::SmallBitVector> Maximal; // storages, and UnitGradients
  std::vector<int> Ops;                      // parallel to these
  const auto [Begin, End] = opsOf(Of);
  for (int Op = Begin; Op < End; ++Op) {
    llvm::SmallBitVector Live(static_cast<unsigned>(Storages.size()) + 1);
    for (const auto &[I, S] : llvm::enumerate(Storages))
      if (S.First <= Op && Op <= S.Last)
        Live.set(static_cast<unsigned>(I));
    if (Op >= FirstGradient)
      Live.set(static_cast<unsigned>(Storages.size()));
    auto IsIn = [&](const llvm::SmallBitVector &Other) {
      return !Live.test(Other);
    };
    if (llvm::any_of(Maximal, IsIn))
      continue;
    for (size_t I = Maximal.size(); I-- > 0;)
      if (!Maximal[I].test(Live)) {
        Maximal.erase(Maximal.begin() + static_cast<ptrdiff_t>(I));
        Ops.erase(Ops.begin() + static_cast<ptrdiff_t>(I));
      }
    Maximal.push_back(std::move(Live));
    Ops.push_back(Op);
  }
  Expr Most = numberOf(P, 0);
  for (const int Op : Ops)
    Most = max(Most, liveAt(Op));
  return Most;
}

Moment Liveness::most(Phase Of) const {
  const auto [Begin, End] = opsOf(Of);
  std::optional<int> Most;
  __int128 Highest = 0;
  for (int Op = Begin; Op < End; ++Op) {
    __int128 Live = Op >= FirstGradient ? UnitGradients.value() : 0;
    for (const Storage &S : Storages)
      if (S.First <= Op && Op <= S.Last)
        Live += sizeOf(S).value();
    if (Live > Highest) {
      Highest = Live;
      Most = Op;
    }
  }
  if (!Most)
    return {OpId(), numberOf(P, 0)};
  return {B.Ops.idAt(static_cast<size_t>(*Most)), liveAt(*Most)};
}
