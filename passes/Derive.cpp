// SPDX-License-Identifier: Apache-2.0
//
// derive: fills in what follows from what was stated (dp, ga, head_dim, padded
// vocabulary ...) and reports every combination of numbers that Megatron-LM
// would refuse or silently get wrong. Where a diagnostic is allowed (a
// compatible table of a generator that does not check), quotients are floored.

#include "ir/Program.h"
#include "lang/Diagnostic.h"
#include "passes/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// A stated number and what it is called, for "nearest legal" notes.
struct Key {
  llvm::StringRef Name;
  const Located<int64_t> &Field;
  int64_t value() const { return *Field; }
};

/// The two values of \p Name next to \p Value that divide \p Total.
std::string nearestDivisors(int64_t Value, int64_t Total) {
  std::string Text;
  // A divisor is at most Total; the scan stops at the first on each side and
  // is bounded because 1 and Total always divide.
  constexpr int64_t MaxScan = 1 << 20;
  for (int64_t D = Value - 1; D > 0 && Value - D < MaxScan; --D)
    if (Total % D == 0) {
      Text = llvm::itostr(D);
      break;
    }
  for (int64_t D = Value + 1; D <= Total && D - Value < MaxScan; ++D)
    if (Total % D == 0) {
      Text += (Text.empty() ? "" : " or ") + llvm::itostr(D);
      break;
    }
  return Text;
}

/// The multiples of \p Unit next to \p Value.
std::string nearestMultiples(int64_t Value, int64_t Unit) {
  int64_t Below = Value / Unit * Unit;
  std::string Text;
  if (Below > 0)
    Text = llvm::itostr(Below) + " or ";
  int64_t Above;
  if (llvm::AddOverflow(Below, Unit, Above))
    return llvm::itostr(Below);
  return Text + llvm::itostr(Above);
}

class Deriver {
public:
  Deriver(Program &P, DiagnosticEngine &Diags)
      : S(P.Spec), Mesh(P.Mesh), Diags(Diags) {}

  bool run() {
    deriveWorld();
    if (Failed)
      return false; // the rest divides by dp
    deriveBatch();
    for (BlockSpec &B : S.Model.Blocks) {
      deriveAttention(B);
      deriveFfn(B);
    }
    deriveVocab();
    checkSequence();
    checkPipeline();
    deriveExpertMesh();
    if (!Failed)
      checkSizes();
    fillMesh();
    return !Failed;
  }

private:
  /// Reports; true if the message stands as an error.
  template <typename... Ts>
  DiagnosticBuilder error(SourceRange R, diag::Id Id, Ts &&...Args) {
    unsigned Before = Diags.errorCount();
    DiagnosticBuilder B = Diags.report(R, Id, std::forward<Ts>(Args)...);
    Failed |= Diags.errorCount() != Before;
    return B;
  }

  void deriveWorld();
  void deriveBatch();
  void deriveAttention(BlockSpec &B);
  void checkHeads(const AttentionSpec &A);
  void deriveFfn(BlockSpec &B);
  void checkExperts(const BlockSpec &B);
  void deriveVocab();
  void checkSequence();
  void checkPipeline();
  void checkLayout();
  void deriveExpertMesh();
  void checkSizes();
  void checkSize(SourceRange R, llvm::StringRef What,
                 llvm::ArrayRef<int64_t> Factors);
  void fillMesh();
  bool hasExperts() const {
    return llvm::any_of(S.Model.Blocks,
                        [](const BlockSpec &B) { return B.Moe.has_value(); });
  }

  Spec &S;
  ir::Mesh &Mesh;
  DiagnosticEngine &Diags;
  bool Failed = false;
};

} // namespace

void Deriver::deriveWorld() {
  ParallelSpec &P = S.Parallel;
  int64_t ModelRanks;
  int64_t TpCp;
  if (llvm::MulOverflow(*P.Tp, *P.Cp, TpCp) ||
      llvm::MulOverflow(TpCp, *P.Pp, ModelRanks)) {
    error(P.World.Range, diag::SizeOverflow, "tp x cp x pp");
    return;
  }
  if (*P.World % ModelRanks != 0 || *P.World < ModelRanks) {
    error(P.World.Range, diag::WorldIndivisible, *P.World, *P.Tp, *P.Cp, *P.Pp,
          ModelRanks)
        .note(P.Tp.Range, diag::ValueFromHere, "tp", *P.Tp)
        .note(P.Pp.Range, diag::ValueFromHere, "pp", *P.Pp)
        .note(P.World.Range, diag::NearestLegal, "world",
              nearestMultiples(*P.World, ModelRanks));
    return;
  }
  int64_t Dp = *P.World / ModelRanks;
  if (P.Dp.isStated() && *P.Dp != Dp) {
    error(P.Dp.Range, diag::DpMismatch, *P.Dp, *P.World, ModelRanks, Dp)
        .note(P.World.Range, diag::ValueFromHere, "world", *P.World);
    return;
  }
  P.Dp.derive(Dp, P.Dp.isStated() ? P.Dp.Range : P.World.Range);
  if (*P.Zero > 3 || *P.Zero < 0)
    error(P.Zero.Range, diag::ZeroStage, *P.Zero);
}

void Deriver::deriveBatch() {
  ParallelSpec &P = S.Parallel;
  TrainSpec &T = S.Train;
  int64_t PerStep;
  if (llvm::MulOverflow(*T.MicroBatch, *P.Dp, PerStep)) {
    error(T.MicroBatch.Range, diag::SizeOverflow, "micro_batch x dp");
    return;
  }
  if (!T.GlobalBatch.isPresent()) {
    if (!P.Ga.isPresent())
      P.Ga.setDefault(1);
    int64_t Global;
    if (llvm::MulOverflow(PerStep, *P.Ga, Global))
      error(P.Ga.Range, diag::SizeOverflow, "micro_batch x dp x ga");
    else
      T.GlobalBatch.derive(Global, P.Ga.Range);
    return;
  }
  if (*T.GlobalBatch % PerStep != 0 || *T.GlobalBatch < PerStep)
    error(T.GlobalBatch.Range, diag::BatchIndivisible, *T.GlobalBatch,
          *T.MicroBatch, *P.Dp, PerStep)
        .note(P.Dp.Range, diag::ValueFromHere, "dp", *P.Dp)
        .note(T.GlobalBatch.Range, diag::NearestLegal, "global_batch",
              nearestMultiples(*T.GlobalBatch, PerStep));
  int64_t Ga = *T.GlobalBatch / PerStep;
  if (P.Ga.isStated() && *P.Ga != Ga)
    error(P.Ga.Range, diag::GaMismatch, *P.Ga, *T.GlobalBatch, PerStep, Ga)
        .note(T.GlobalBatch.Range, diag::ValueFromHere, "global_batch",
              *T.GlobalBatch);
  P.Ga.derive(Ga, P.Ga.isStated() ? P.Ga.Range : T.GlobalBatch.Range);
}

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
            .note(S.Model.Hidden.Range, diag::ValueFromHere, "hidden",
                  *S.Model.Hidden);
      A.HeadDim.derive(*S.Model.Hidden / *A.Heads, A.Heads.Range);
    }
  }
  checkHeads(A);
  if (!A.QkNorm.isPresent())
    A.QkNorm.setDefault(false);
}

void Deriver::checkHeads(const AttentionSpec &A) {
  const Located<int64_t> &Tp = S.Parallel.Tp;
  if (*A.Heads % *A.KvHeads != 0)
    error(A.KvHeads.Range, diag::KvHeadsNoFactor, *A.Heads, *A.KvHeads)
        .note(A.KvHeads.Range, diag::NearestLegal, "kv_heads",
              nearestDivisors(*A.KvHeads, *A.Heads));
  if (*A.Heads % *Tp != 0)
    error(A.Heads.Range, diag::HeadsIndivisible, *A.Heads, *Tp)
        .note(Tp.Range, diag::ValueFromHere, "tp", *Tp)
        .note(Tp.Range, diag::NearestLegal, "tp",
              nearestDivisors(*Tp, *A.Heads));
  else if (*A.KvHeads % *Tp != 0)
    error(A.KvHeads.Range, diag::KvHeadsIndivisible, *A.KvHeads, *Tp)
        .note(Tp.Range, diag::ValueFromHere, "tp", *Tp)
        .note(Tp.Range, diag::NearestLegal, "tp",
              nearestDivisors(*Tp, *A.KvHeads));
}

void Deriver::deriveFfn(BlockSpec &B) {
  FfnSpec &F = B.Ffn;
  const Located<int64_t> &Tp = S.Parallel.Tp;
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
    checkExperts(B);
    return;
  }
  if (*F.Intermediate % *Tp != 0)
    error(F.Intermediate.Range, diag::FfnIndivisible, *F.Intermediate, "tp",
          *Tp)
        .note(Tp.Range, diag::ValueFromHere, "tp", *Tp);
}

void Deriver::checkExperts(const BlockSpec &B) {
  const MoeSpec &M = *B.Moe;
  ParallelSpec &P = S.Parallel;
  if (!P.Etp.isPresent())
    P.Etp.derive(*P.Tp, P.Tp.Range);
  if (*M.Experts % *P.Ep != 0)
    error(M.Experts.Range, diag::ExpertsIndivisible, *M.Experts, *P.Ep)
        .note(P.Ep.Range, diag::ValueFromHere, "ep", *P.Ep)
        .note(P.Ep.Range, diag::NearestLegal, "ep",
              nearestDivisors(*P.Ep, *M.Experts));
  if (*M.TopK > *M.Experts)
    error(M.TopK.Range, diag::TopkExceedsExperts, *M.TopK, *M.Experts)
        .note(M.Experts.Range, diag::ValueFromHere, "experts", *M.Experts);
  if (*B.Ffn.Intermediate % *P.Etp != 0)
    error(B.Ffn.Intermediate.Range, diag::FfnIndivisible, *B.Ffn.Intermediate,
          "etp", *P.Etp)
        .note(P.Etp.Range, diag::ValueFromHere, "etp", *P.Etp);
  if (*M.SharedIntermediate % *P.Tp != 0)
    error(M.Shared.Range, diag::FfnIndivisible, *M.SharedIntermediate, "tp",
          *P.Tp)
        .note(P.Tp.Range, diag::ValueFromHere, "tp", *P.Tp);
  if (*P.Tp > 1 && !*P.SequenceParallel)
    error(P.Tp.Range, diag::MoeNeedsSp, *P.Tp)
        .note(M.Experts.Range, diag::ValueFromHere, "experts", *M.Experts);
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
        .note(M.Vocab.Range, diag::ValueFromHere, "vocab", *M.Vocab);
  M.PaddedVocab.derive(Padded, M.Vocab.Range);
  if (!M.MaxPositions.isPresent())
    M.MaxPositions.derive(*S.Train.Sequence, S.Train.Sequence.Range);
  else if (*M.Positions == PositionKind::Learned &&
           *M.MaxPositions < *S.Train.Sequence)
    error(S.Train.Sequence.Range, diag::SequenceExceedsPositions,
          *S.Train.Sequence, *M.MaxPositions)
        .note(M.MaxPositions.Range, diag::ValueFromHere, "max_positions",
              *M.MaxPositions);
  if (!M.QkvBias.isPresent())
    M.QkvBias.derive(*M.Bias, M.Bias.Range);
  TrainSpec &T = S.Train;
  if (!T.GradPrecision.isPresent())
    T.GradPrecision.derive(*T.Precision == PrecisionKind::FP16
                               ? PrecisionKind::FP16
                               : PrecisionKind::FP32,
                           T.Precision.Range);
}

void Deriver::checkSequence() {
  const ParallelSpec &P = S.Parallel;
  const Located<int64_t> &Seq = S.Train.Sequence;
  if (*P.SequenceParallel && *P.Tp == 1)
    error(P.SequenceParallel.Range, diag::SpWithoutTp)
        .note(P.Tp.Range, diag::ValueFromHere, "tp", *P.Tp);
  // The ring gives every rank a slice of each half, so that causal masks
  // balance: 2 cp slices (Megatron-LM, get_batch_on_this_cp_rank).
  int64_t Parts = *P.Cp > 1 ? 2 * *P.Cp : 1;
  if (*P.SequenceParallel && llvm::MulOverflow(Parts, *P.Tp, Parts)) {
    error(P.Tp.Range, diag::SizeOverflow, "2 x cp x tp");
    return;
  }
  if (*Seq % Parts != 0)
    error(Seq.Range, diag::SequenceIndivisible, *Seq, Parts,
          *P.Cp > 1 ? (*P.SequenceParallel ? "2 x cp x tp" : "2 x cp") : "tp")
        .note(P.Tp.Range, diag::ValueFromHere, "tp", *P.Tp)
        .note(Seq.Range, diag::NearestLegal, "sequence",
              nearestMultiples(*Seq, Parts));
}

void Deriver::checkLayout() {
  const ParallelSpec &P = S.Parallel;
  int64_t Chunks = *P.Pp * *P.Vpp;
  if (static_cast<int64_t>(P.Layout.size()) != Chunks) {
    error(P.LayoutRange, diag::LayoutLength, P.Layout.size(), Chunks);
    return;
  }
  int64_t Sum = 0;
  for (const Located<int64_t> &L : P.Layout)
    if (llvm::AddOverflow(Sum, *L, Sum)) {
      error(L.Range, diag::SizeOverflow, "layers of `layout`");
      return;
    }
  if (Sum != S.Model.layerCount())
    error(P.LayoutRange, diag::LayoutSum, Sum, S.Model.layerCount())
        .note(S.Model.LayersRange, diag::ValueFromHere, "layers",
              S.Model.layerCount());
}

void Deriver::checkPipeline() {
  const ParallelSpec &P = S.Parallel;
  int64_t Chunks;
  if (llvm::MulOverflow(*P.Pp, *P.Vpp, Chunks)) {
    error(P.Vpp.Range, diag::SizeOverflow, "pp x vpp");
    return;
  }
  if (*P.Vpp > 1 && *P.Pp == 1)
    error(P.Vpp.Range, diag::VppWithoutPp, *P.Vpp);
  if (*P.Vpp > 1 && *P.Ga % *P.Pp != 0)
    error(P.Vpp.Range, diag::GaIndivisible, *P.Ga, *P.Pp)
        .note(P.Ga.Range, diag::ValueFromHere, "ga", *P.Ga);
  if (!P.Layout.empty())
    return checkLayout();
  int64_t Layers = S.Model.layerCount();
  int64_t Counted = Layers + *P.EmbeddingAsLayer + *P.LossAsLayer;
  if (Counted % Chunks == 0)
    return;
  error(S.Model.LayersRange, diag::LayersIndivisible, Counted, *P.Pp, *P.Vpp,
        Chunks)
      .note(P.Pp.Range, diag::ValueFromHere, "pp", *P.Pp)
      .note(P.Pp.Range, diag::NearestLegal, *P.Vpp > 1 ? "pp x vpp" : "pp",
            nearestDivisors(Chunks, Counted));
}

void Deriver::deriveExpertMesh() {
  ParallelSpec &P = S.Parallel;
  if (!hasExperts()) {
    if (*P.Ep > 1)
      error(P.Ep.Range, diag::EpWithoutExperts, *P.Ep);
    if (!P.Etp.isPresent())
      P.Etp.derive(*P.Tp, P.Tp.Range);
    return;
  }
  int64_t StageRanks = *P.Tp * *P.Cp * *P.Dp;
  int64_t ExpertRanks;
  if (llvm::MulOverflow(*P.Ep, *P.Etp, ExpertRanks) ||
      StageRanks % ExpertRanks != 0)
    error(P.Ep.Range, diag::EpExceedsDp, *P.Ep, *P.Etp, StageRanks, *P.Tp,
          *P.Cp, *P.Dp)
        .note(P.Ep.Range, diag::NearestLegal, "ep",
              nearestDivisors(*P.Ep, StageRanks / *P.Etp));
}

void Deriver::checkSize(SourceRange R, llvm::StringRef What,
                        llvm::ArrayRef<int64_t> Factors) {
  Elements Product(1);
  for (int64_t F : Factors)
    Product = Product * F;
  if (Product.isOverflow())
    error(R, diag::SizeOverflow, What);
}

/// No tensor of the job has 2^63 bytes or more, over all ranks of a stage. The
/// passes after this multiply extents without looking.
void Deriver::checkSizes() {
  constexpr int64_t MaxElementBytes = 8;
  const ModelSpec &M = S.Model;
  const TrainSpec &T = S.Train;
  const int64_t Batch = *T.MicroBatch * *S.Parallel.Dp;
  auto CheckWidth = [&](const Located<int64_t> &Width, llvm::StringRef What,
                        int64_t Factor) {
    checkSize(Width.Range, ("an activation of `" + What + "`").str(),
              {MaxElementBytes, *T.Sequence, Batch, *Width, Factor});
    checkSize(Width.Range, ("a weight of `" + What + "`").str(),
              {MaxElementBytes, *M.Hidden, *Width, Factor});
  };
  CheckWidth(M.Hidden, "hidden", 1);
  CheckWidth(M.PaddedVocab, "vocab", 1);
  checkSize(M.MaxPositions.Range, "the position table",
            {MaxElementBytes, *M.MaxPositions, *M.Hidden});
  for (const BlockSpec &B : M.Blocks) {
    const AttentionSpec &A = B.Attention;
    // Query, key and value side by side are at most three times the heads.
    int64_t HeadDim =
        *A.Kind == AttentionKind::MLA
            ? std::max({*A.NopeDim, *A.RopeDim, *A.VDim, *A.QLora, *A.KvLora})
            : *A.HeadDim;
    int64_t Channels;
    if (llvm::MulOverflow(HeadDim, int64_t(4), Channels))
      error(A.Range, diag::SizeOverflow, "the channels of a head");
    else
      CheckWidth(A.Heads, "heads", Channels);
    // An expert layer has topk copies of each token and `experts` weights.
    int64_t Copies = B.Moe ? std::max(*B.Moe->TopK, *B.Moe->Experts) : 1;
    int64_t Wide;
    if (llvm::MulOverflow(Copies, int64_t(2), Wide)) {
      error(B.Moe->Experts.Range, diag::SizeOverflow, "2 x experts");
      continue;
    }
    CheckWidth(B.Ffn.Intermediate, "intermediate", Wide);
    if (B.Moe)
      CheckWidth(M.Hidden, "hidden", *B.Moe->TopK);
  }
}

void Deriver::fillMesh() {
  const ParallelSpec &P = S.Parallel;
  Mesh[Axis::Tp] = *P.Tp;
  Mesh[Axis::Cp] = *P.Cp;
  Mesh[Axis::Dp] = *P.Dp;
  Mesh[Axis::Pp] = *P.Pp;
  if (!hasExperts() || Failed)
    return;
  Mesh[Axis::Etp] = *P.Etp;
  Mesh[Axis::Ep] = *P.Ep;
  Mesh[Axis::Edp] = *P.Tp * *P.Cp * *P.Dp / (*P.Etp * *P.Ep);
}

bool foretrace::derive(Program &P, DiagnosticEngine &Diags) {
  return Deriver(P, Diags).run();
}
