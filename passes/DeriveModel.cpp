// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that concerns the model: attention, feed-forward
// networks, experts, vocabulary, and the size of the largest tensors.

#include "passes/Deriver.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// A stated number and what it is called, for "nearest legal" notes.
struct Key {
  llvm::StringRef Name;
  const Located<int64_t> &Field;
  int64_t value() const { return *Field; }
};

} // namespace

void Deriver::deriveAttention(BlockSpec &B) {
  AttentionSpec &A = B.Attention;
  if (*A.Kind == AttentionKind::MLA) {
    const Key Needed[] = {{"kv_lora", A.KvLora},
                          {"rope_dim", A.RopeDim},
                          {"nope_dim", A.NopeDim},
                          {"v_dim", A.VDim}};
    for (const Key &K : Needed)
      if (!K.Field.isPresent())
        error(A.Range, diag::MlaKeyMissing, K.Name);
    if (!A.QLora.isPresent())
      A.QLora.setDefault(0);
    A.KvHeads.derive(*A.Heads, A.Heads.Range);
  } else {
    if (*A.Kind == AttentionKind::GQA && !A.KvHeads.isPresent())
      error(A.Range, diag::KvHeadsMissing);
    int64_t KvHeads = *A.Kind == AttentionKind::MQA   ? 1
                      : *A.Kind == AttentionKind::MHA ? *A.Heads
                      : A.KvHeads.isPresent()         ? *A.KvHeads
                                                      : *A.Heads;
    if (A.KvHeads.isPresent() && *A.KvHeads != KvHeads)
      error(A.KvHeads.Range, diag::KvHeadsMismatch, *A.KvHeads, KvHeads);
    A.KvHeads.derive(KvHeads,
                     A.KvHeads.isPresent() ? A.KvHeads.Range : A.Heads.Range);
    if (!A.HeadDim.isPresent()) {
      if (*S.Model.Hidden % *A.Heads != 0)
        error(A.Heads.Range, diag::HeadDimIndivisible, *S.Model.Hidden,
              *A.Heads)
            .noteValue("hidden", S.Model.Hidden);
      A.HeadDim.derive(*S.Model.Hidden / *A.Heads, A.Heads.Range);
    }
  }
  checkHeads(A);
  checkContextParallel(A);
  if (!A.QkNorm.isPresent())
    A.QkNorm.setDefault(false);
}

void Deriver::checkHeads(const AttentionSpec &A) {
  const Located<int64_t> &Tp = S.Parallel.Tp;
  if (*A.Heads % *A.KvHeads != 0)
    error(A.KvHeads.Range, diag::KvHeadsNoFactor, *A.Heads, *A.KvHeads);
  if (*A.Heads % *Tp != 0)
    error(A.Heads.Range, diag::HeadsIndivisible, *A.Heads, *Tp)
        .noteValue("tp", Tp);
  else if (*A.KvHeads % *Tp != 0)
    error(A.KvHeads.Range, diag::KvHeadsIndivisible, *A.KvHeads, *Tp)
        .noteValue("tp", Tp);
}

/// What attention needs with the tokens of a sample on several ranks.
void Deriver::checkContextParallel(const AttentionSpec &A) {
  const ParallelSpec &P = S.Parallel;
  if (*P.Cp == 1)
    return;
  if (*S.Train.AttentionBackend == AttentionBackendKind::Unfused)
    error(S.Train.AttentionBackend.Range, diag::UnfusedCp, *P.Cp)
        .noteValue("cp", P.Cp);
  if (*P.CpComm != CpCommKind::AllToAll)
    return;
  // Where heads don't divide by tp, that is reported already.
  for (const Key &K : {Key{"heads", A.Heads}, Key{"kv_heads", A.KvHeads}})
    if (K.value() % *P.Tp == 0 && K.value() / *P.Tp % *P.Cp != 0)
      error(K.Field.Range, diag::CpHeadsIndivisible, K.Name, K.value(), *P.Tp,
            *P.Cp)
          .noteValue("cp", P.Cp);
}

void Deriver::deriveFfn(BlockSpec &B) {
  FfnSpec &F = B.Ffn;
  const Located<int64_t> &Tp = S.Parallel.Tp;
  if (!F.LinearBias.isPresent())
    F.LinearBias.derive(*S.Model.Bias, S.Model.Bias.Range);
  if (!F.Intermediate.isPresent()) {
    int64_t Width;
    if (llvm::MulOverflow(*S.Model.Hidden, int64_t(4), Width))
      error(S.Model.Hidden.Range, diag::SizeOverflow, "4 x hidden");
    else
      F.Intermediate.derive(Width, S.Model.Hidden.Range);
  }
  if (B.Moe) {
    MoeSpec &M = *B.Moe;
    if (!M.Shared.isPresent())
      M.Shared.setDefault(0);
    if (!M.SharedIntermediate.isPresent()) {
      int64_t Width;
      if (llvm::MulOverflow(*M.Shared, *F.Intermediate, Width))
        error(M.Shared.Range, diag::SizeOverflow, "shared x intermediate");
      else
        M.SharedIntermediate.derive(Width, M.Shared.Range);
    }
    if (!M.SharedGate.isPresent())
      M.SharedGate.setDefault(false);
    if (!M.RouterBias.isPresent())
      M.RouterBias.setDefault(false);
    if (!M.RouterPrecision.isPresent())
      M.RouterPrecision.derive(*S.Train.Precision, S.Train.Precision.Range);
    if (!M.Dispatcher.isPresent())
      M.Dispatcher.setDefault(DispatcherKind::AllToAll);
    if (!M.AuxLoss.isPresent())
      M.AuxLoss.setDefault(AuxLossKind::None);
    checkExperts(B);
    return;
  }
  if (*F.Intermediate % *Tp != 0)
    error(F.Intermediate.Range, diag::FfnIndivisible, *F.Intermediate, "tp",
          *Tp)
        .noteValue("tp", Tp);
}

void Deriver::checkExperts(const BlockSpec &B) {
  const MoeSpec &M = *B.Moe;
  ParallelSpec &P = S.Parallel;
  if (!P.Etp.isPresent())
    P.Etp.derive(*P.Tp, P.Tp.Range);
  if (*M.Experts % *P.Ep != 0)
    error(M.Experts.Range, diag::ExpertsIndivisible, *M.Experts, *P.Ep)
        .noteValue("ep", P.Ep);
  if (*M.TopK > *M.Experts)
    error(M.TopK.Range, diag::TopkExceedsExperts, *M.TopK, *M.Experts)
        .noteValue("experts", M.Experts);
  if (*B.Ffn.Intermediate % *P.Etp != 0)
    error(B.Ffn.Intermediate.Range, diag::FfnIndivisible, *B.Ffn.Intermediate,
          "etp", *P.Etp)
        .noteValue("etp", P.Etp);
  if (*M.SharedIntermediate % *P.Tp != 0)
    error(M.Shared.Range, diag::FfnIndivisible, *M.SharedIntermediate, "tp",
          *P.Tp)
        .noteValue("tp", P.Tp);
  if (*B.Ffn.LinearBias && *M.SharedIntermediate > 0)
    error(B.Ffn.LinearBias.Range, diag::SharedExpertBias);
  if (*B.Ffn.LinearBias && *P.Etp > 1)
    error(B.Ffn.LinearBias.Range, diag::ExpertBiasEtp, *P.Etp)
        .noteValue("etp", P.Etp);
  if (*P.Tp > 1 && !*P.SequenceParallel)
    error(P.Tp.Range, diag::MoeNeedsSp, *P.Tp).noteValue("experts", M.Experts);
}

void Deriver::deriveVocab() {
  ModelSpec &M = S.Model;
  int64_t Multiple;
  int64_t Padded;
  if (llvm::MulOverflow(*M.VocabMultiple, *S.Parallel.Tp, Multiple) ||
      llvm::AddOverflow(*M.Vocab, Multiple - 1, Padded)) {
    error(M.Vocab.Range, diag::SizeOverflow, "padded_vocab");
    return;
  }
  Padded = Padded / Multiple * Multiple;
  if (M.PaddedVocab.isStated() && *M.PaddedVocab != Padded)
    error(M.PaddedVocab.Range, diag::PaddedVocabMismatch, *M.PaddedVocab,
          *M.Vocab, Multiple, Padded)
        .noteValue("vocab", M.Vocab);
  M.PaddedVocab.derive(Padded, M.Vocab.Range);
  if (!M.MaxPositions.isPresent())
    M.MaxPositions.derive(*S.Train.Sequence, S.Train.Sequence.Range);
  else if (*M.Positions == PositionKind::Learned &&
           *M.MaxPositions < *S.Train.Sequence)
    error(S.Train.Sequence.Range, diag::SequenceExceedsPositions,
          *S.Train.Sequence, *M.MaxPositions)
        .noteValue("max_positions", M.MaxPositions);
  if (!M.QkvBias.isPresent())
    M.QkvBias.derive(*M.Bias, M.Bias.Range);
  TrainSpec &T = S.Train;
  if (!T.GradPrecision.isPresent())
    T.GradPrecision.derive(*T.Precision == PrecisionKind::FP16
                               ? PrecisionKind::FP16
                               : PrecisionKind::FP32,
                           T.Precision.Range);
}

void Deriver::checkSize(llvm::StringRef What, llvm::ArrayRef<Extent> Extents,
                        int64_t Factor) {
  Elements Product(Factor);
  for (const Extent E : Extents)
    Product = Product * **E;
  if (!Product.isOverflow())
    return;
  const Extent Largest = *std::max_element(
      Extents.begin(), Extents.end(),
      [](const Extent A, const Extent B) { return **A < **B; });
  if (Blamed.insert(Largest->Range.start()).second)
    error(Largest->Range, diag::SizeOverflow, What);
}

/// No tensor of the job has 2^63 bytes or more, over all ranks of a stage. The
/// passes after this multiply extents without looking.
void Deriver::checkSizes() {
  constexpr int64_t MaxElementBytes = 8;
  const ModelSpec &M = S.Model;
  const TrainSpec &T = S.Train;
  auto CheckWidth = [&](llvm::StringRef What,
                        llvm::SmallVector<Extent, 5> Width,
                        int64_t Factor = 1) {
    Factor *= MaxElementBytes;
    Width.push_back(&M.Hidden);
    checkSize(("a weight of `" + What + "`").str(), Width, Factor);
    Width.back() = &T.Sequence;
    Width.append({&T.MicroBatch, &S.Parallel.Dp});
    checkSize(("an activation of `" + What + "`").str(), Width, Factor);
  };
  // Query, key and value side by side are at most three times the heads, which
  // are as wide as `hidden` unless the job says how wide one is.
  constexpr int64_t Sides = 4;
  CheckWidth("hidden", {&M.Hidden}, Sides);
  CheckWidth("vocab", {&M.PaddedVocab});
  if (*T.AttentionMask)
    checkSize("the attention mask",
              {&T.Sequence, &T.Sequence, &T.MicroBatch, &S.Parallel.Dp}, 1);
  checkSize("the position table", {&M.MaxPositions, &M.Hidden},
            MaxElementBytes);
  for (const BlockSpec &B : M.Blocks) {
    const AttentionSpec &A = B.Attention;
    for (const Extent Channels :
         {&A.HeadDim, &A.NopeDim, &A.RopeDim, &A.VDim, &A.QLora, &A.KvLora})
      if (Channels->isStated())
        CheckWidth("heads", {&A.Heads, Channels}, Sides);
    if (!B.Moe) {
      CheckWidth("intermediate", {&B.Ffn.Intermediate}, 2);
      continue;
    }
    // An expert layer has topk copies of each token and `experts` weights.
    for (const Extent Copies : {&B.Moe->Experts, &B.Moe->TopK})
      CheckWidth("intermediate", {&B.Ffn.Intermediate, Copies}, 2);
    CheckWidth("hidden", {&M.Hidden, &B.Moe->TopK});
  }
}
