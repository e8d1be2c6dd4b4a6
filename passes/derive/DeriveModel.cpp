// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that concerns the model: attention, feed-forward
// networks, experts, vocabulary, and the size of the largest tensors.

#include "ir/model/Spellings.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/derive/Deriver.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// A stated number and what it is called, for "nearest legal" notes.
struct NamedNumber {
  llvm::StringRef Name;
  const Located<int64_t> &Field;
  int64_t value() const { return *Field; }
};

} // namespace

void Deriver::deriveAttention(BlockSpec &B) {
  AttentionSpec &A = B.Attention;
  if (*A.Kind == AttentionKind::MLA) {
    const NamedNumber Needed[] = {{"kv_lora", A.KvLora},
                                  {"rope_dim", A.RopeDim},
                                  {"nope_dim", A.NopeDim},
                                  {"v_dim", A.VDim}};
    for (const NamedNumber &K : Needed)
      if (!K.Field.isPresent())
        error(A.Range, diag::MlaKeyMissing, K.Name);
    if (!A.QLora.isPresent())
      A.QLora.setDefault(0);
    exceeds(A.QLora, 0);
    define(A.KvHeads, of(A.Heads), A.Heads.Range, "kv_heads");
  } else {
    if (*A.Kind == AttentionKind::GQA && !A.KvHeads.isPresent())
      error(A.Range, diag::KvHeadsMissing);
    deriveKvHeads(A);
    if (!A.HeadDim.isPresent()) {
      if (!holds(isMultiple(of(S.Model.Hidden), of(A.Heads)),
                 diag::HeadDimIndivisible, A.Heads))
        error(A.Heads.Range, diag::HeadDimIndivisible, *S.Model.Hidden,
              *A.Heads)
            .noteValue("hidden", S.Model.Hidden);
      define(A.HeadDim, quotient(of(S.Model.Hidden), of(A.Heads)),
             A.Heads.Range, "head_dim");
    }
  }
  checkRotary(A);
  checkHeads(A);
  checkContextParallel(A);
  if (!A.QkNorm.isPresent())
    A.QkNorm.setDefault(false);
  if (*A.Kind == AttentionKind::MLA && !A.QRopeTp.isPresent())
    A.QRopeTp.setDefault(true);
}

/// Of attention other than latent: one for each head, one for all, or as many
/// as are stated.
void Deriver::deriveKvHeads(AttentionSpec &A) {
  if (*A.Kind == AttentionKind::GQA && A.KvHeads.isPresent()) {
    A.KvHeads.derive(*A.KvHeads, A.KvHeads.Range);
    return;
  }
  const Expr Heads =
      *A.Kind == AttentionKind::MQA ? numberOf(Program, 1) : of(A.Heads);
  if (A.KvHeads.isPresent() &&
      !isStated(A.KvHeads, Heads, diag::KvHeadsMismatch, A.Heads))
    error(A.KvHeads.Range, diag::KvHeadsMismatch, *A.KvHeads, Heads.value());
  define(A.KvHeads, Heads,
         A.KvHeads.isPresent() ? A.KvHeads.Range : A.Heads.Range, "kv_heads");
}

/// Megatron-LM, rotary_pos_embedding.py, RotaryEmbedding: an angle for each
/// pair of channels. Latent attention turns some whatever the positions are.
void Deriver::checkRotary(const AttentionSpec &A) {
  const bool IsLatent = *A.Kind == AttentionKind::MLA;
  if (!IsLatent && *S.Model.Positions != PositionKind::Rope)
    return;
  const NamedNumber K = IsLatent ? NamedNumber{"rope_dim", A.RopeDim}
                                 : NamedNumber{"head_dim", A.HeadDim};
  // Where heads don't divide `hidden`, that is reported already.
  const bool IsRounded =
      !IsLatent && !K.Field.isStated() && *S.Model.Hidden % *A.Heads != 0;
  if (K.Field.isPresent() && !IsRounded &&
      !holds(isMultiple(of(K.Field), number(2)), diag::RotaryOdd, K.Field))
    error(K.Field.Range, diag::RotaryOdd, K.Name, K.value())
        .note({}, diag::RefusedBy, "Megatron-LM",
              "rotary_pos_embedding.py, RotaryEmbedding");
}

void Deriver::checkHeads(const AttentionSpec &A) {
  const Located<int64_t> &Tp = S.Parallel.Tp;
  if (!holds(isMultiple(of(A.Heads), of(A.KvHeads)), diag::KvHeadsNoFactor,
             A.KvHeads))
    error(A.KvHeads.Range, diag::KvHeadsNoFactor, *A.Heads, *A.KvHeads);
  if (!holds(isMultiple(of(A.Heads), of(Tp)), diag::HeadsIndivisible, A.Heads))
    error(A.Heads.Range, diag::HeadsIndivisible, *A.Heads, *Tp)
        .noteValue("tp", Tp);
  else
    checkKeyHeads(A);
  if (*S.Train.AttentionBackend == AttentionBackendKind::Unfused)
    decide(combine(ExprOp::Less, of(A.KvHeads), of(A.Heads)));
}

/// Whether the release lets several ranks have one key head (Megatron-LM,
/// transformer_config.py, TransformerConfig.__post_init__).
static bool mayShareKeyHeads(const ParallelSpec &P) {
  return *P.Megatron >= MegatronVersion::V0_16;
}

void Deriver::checkKeyHeads(const AttentionSpec &A) {
  const ParallelSpec &P = S.Parallel;
  const Expr IsWhole = isMultiple(of(A.KvHeads), of(P.Tp));
  const bool MayShare = mayShareKeyHeads(P);
  const Expr IsLegal =
      MayShare ? max(IsWhole, isMultiple(of(P.Tp), of(A.KvHeads))) : IsWhole;
  if (!holds(IsLegal, diag::KvHeadsIndivisible, A.KvHeads)) {
    DiagnosticBuilder D =
        error(A.KvHeads.Range, diag::KvHeadsIndivisible, *A.KvHeads, *P.Tp);
    D.noteValue("tp", P.Tp);
    if (!MayShare && *P.Tp % *A.KvHeads == 0)
      D.note(P.Megatron.Range, diag::SinceRelease, "0.16",
             "let several ranks share a key head");
  }
  decide(IsWhole);
}

/// What attention needs with the tokens of a sample on several ranks.
void Deriver::checkContextParallel(const AttentionSpec &A) {
  const ParallelSpec &P = S.Parallel;
  if (!exceeds(P.Cp, 1))
    return;
  if (*S.Train.AttentionBackend == AttentionBackendKind::Unfused)
    error(S.Train.AttentionBackend.Range, diag::UnfusedCp, *P.Cp)
        .noteValue("cp", P.Cp);
  if (*P.CpComm != CpCommKind::AllToAll)
    return;
  // Where heads don't divide by tp, that is reported already, unless ranks may
  // share key heads.
  auto IsReported = [&](const Located<int64_t> &Heads) {
    return *Heads % *P.Tp != 0 && !(&Heads == &A.KvHeads &&
                                    mayShareKeyHeads(P) && *P.Tp % *Heads == 0);
  };
  for (const NamedNumber &K :
       {NamedNumber{"heads", A.Heads}, NamedNumber{"kv_heads", A.KvHeads}})
    if (!holds(isMultiple(of(K.Field), of(P.Tp) * of(P.Cp)),
               diag::CpHeadsIndivisible, K.Field) &&
        !IsReported(K.Field))
      error(K.Field.Range, diag::CpHeadsIndivisible, K.Name, K.value(), *P.Tp,
            *P.Cp)
          .noteValue("cp", P.Cp);
}

void Deriver::deriveFfn(BlockSpec &B) {
  FfnSpec &F = B.Ffn;
  const Located<int64_t> &Tp = S.Parallel.Tp;
  if (!F.LinearBias.isPresent())
    F.LinearBias.derive(*S.Model.Bias, S.Model.Bias.Range);
  if (!F.Intermediate.isPresent())
    define(F.Intermediate, of(S.Model.Hidden) * 4, S.Model.Hidden.Range,
           "4 x hidden");
  if (B.Moe) {
    MoeSpec &M = *B.Moe;
    if (!M.Shared.isPresent())
      M.Shared.setDefault(0);
    if (!M.SharedIntermediate.isPresent())
      define(M.SharedIntermediate, of(M.Shared) * of(F.Intermediate),
             M.Shared.Range, "shared x intermediate");
    if (!M.SharedGate.isPresent())
      M.SharedGate.setDefault(false);
    if (!M.SharedTp.isPresent())
      M.SharedTp.setDefault(true);
    if (!M.RouterBias.isPresent())
      M.RouterBias.setDefault(false);
    if (!M.RouterPrecision.isPresent())
      M.RouterPrecision.derive(*S.Train.Precision, S.Train.Precision.Range);
    checkType("router_precision", M.RouterPrecision);
    if (!M.Dispatcher.isPresent())
      M.Dispatcher.setDefault(DispatcherKind::AllToAll);
    if (!M.AuxLoss.isPresent())
      M.AuxLoss.setDefault(AuxLossKind::None);
    checkExperts(B);
    return;
  }
  if (!holds(isMultiple(of(F.Intermediate), of(Tp)), diag::FfnIndivisible,
             F.Intermediate))
    error(F.Intermediate.Range, diag::FfnIndivisible, *F.Intermediate, "tp",
          *Tp)
        .noteValue("tp", Tp);
}

void Deriver::checkExperts(const BlockSpec &B) {
  const MoeSpec &M = *B.Moe;
  ParallelSpec &P = S.Parallel;
  if (!P.Etp.isPresent())
    define(P.Etp, of(P.Tp), P.Tp.Range, "etp");
  if (!holds(isMultiple(of(M.Experts), of(P.Ep)), diag::ExpertsIndivisible,
             M.Experts))
    error(M.Experts.Range, diag::ExpertsIndivisible, *M.Experts, *P.Ep)
        .noteValue("ep", P.Ep);
  if (!holds(isAtMost(of(M.TopK), of(M.Experts)), diag::TopkExceedsExperts,
             M.TopK))
    error(M.TopK.Range, diag::TopkExceedsExperts, *M.TopK, *M.Experts)
        .noteValue("experts", M.Experts);
  if (!holds(isMultiple(of(B.Ffn.Intermediate), of(P.Etp)),
             diag::FfnIndivisible, B.Ffn.Intermediate))
    error(B.Ffn.Intermediate.Range, diag::FfnIndivisible, *B.Ffn.Intermediate,
          "etp", *P.Etp)
        .noteValue("etp", P.Etp);
  const auto &SharedWidth =
      M.SharedIntermediate.isStated() ? M.SharedIntermediate : M.Shared;
  if (!holds(isMultiple(of(M.SharedIntermediate), of(P.Tp)),
             diag::FfnIndivisible, SharedWidth))
    error(SharedWidth.Range, diag::FfnIndivisible, *M.SharedIntermediate, "tp",
          *P.Tp)
        .noteValue("tp", P.Tp);
  if (exceeds(M.SharedIntermediate, 0) && *B.Ffn.LinearBias)
    error(B.Ffn.LinearBias.Range, diag::SharedExpertBias);
  if (*B.Ffn.LinearBias && exceeds(P.Etp, 1))
    error(B.Ffn.LinearBias.Range, diag::ExpertBiasEtp, *P.Etp)
        .noteValue("etp", P.Etp);
  if (!*P.SequenceParallel && exceeds(P.Tp, 1))
    error(P.Tp.Range, diag::MoeNeedsSp, *P.Tp).noteValue("experts", M.Experts);
}

void Deriver::deriveVocab() {
  ModelSpec &M = S.Model;
  const Expr Multiple = of(M.VocabMultiple) * of(S.Parallel.Tp);
  const Expr Padded = ceilDiv(of(M.Vocab), Multiple) * Multiple;
  if (M.PaddedVocab.isStated() && Padded.hasValue() &&
      !isStated(M.PaddedVocab, Padded, diag::PaddedVocabMismatch, M.Vocab))
    error(M.PaddedVocab.Range, diag::PaddedVocabMismatch, *M.PaddedVocab,
          *M.Vocab, Multiple.value(), Padded.value())
        .noteValue("vocab", M.Vocab);
  if (!define(M.PaddedVocab, Padded, M.Vocab.Range, "padded_vocab"))
    return;
  if (!M.MaxPositions.isPresent())
    define(M.MaxPositions, of(S.Train.Sequence), S.Train.Sequence.Range,
           "max_positions");
  else if (!holds(isAtMost(of(S.Train.Sequence), of(M.MaxPositions)),
                  diag::SequenceExceedsPositions, S.Train.Sequence))
    error(S.Train.Sequence.Range, diag::SequenceExceedsPositions,
          *S.Train.Sequence, *M.MaxPositions)
        .noteValue("max_positions", M.MaxPositions)
        .note({}, diag::RefusedBy, "Megatron-LM",
              "training/arguments.py, validate_args");
  if (!M.QkvBias.isPresent())
    M.QkvBias.derive(*M.Bias, M.Bias.Range);
  checkQkvBias();
  TrainSpec &T = S.Train;
  if (!T.GradPrecision.isPresent())
    T.GradPrecision.derive(*T.Precision == PrecisionKind::FP16
                               ? PrecisionKind::FP16
                               : PrecisionKind::FP32,
                           T.Precision.Range);
  if (*S.Parallel.Zero < 2) // Megatron-FSDP has flags for any type
    checkType("grad_precision", T.GradPrecision);
}

/// Megatron-LM, transformer/attention.py, SelfAttention: a projection has a
/// bias as one of both flags says so. Those of latent attention have none.
void Deriver::checkQkvBias() {
  const ModelSpec &M = S.Model;
  const bool IsRead = llvm::any_of(
      M.Blocks, [](const BlockSpec &B) { return !B.hasLatentAttention(); });
  if (IsRead && *M.Bias && !*M.QkvBias)
    error(M.QkvBias.Range, diag::BiasWithoutFlag).noteValue("bias", M.Bias);
}

/// Megatron-LM, distributed_data_parallel_config.py, grad_reduce_in_fp32;
/// transformer_config.py, moe_router_dtype: the type of parameters, or fp32.
void Deriver::checkType(llvm::StringRef Key,
                        const Located<PrecisionKind> &Type) {
  const PrecisionKind Given = *S.Train.Precision;
  if (*Type == Given || *Type == PrecisionKind::FP32)
    return;
  const llvm::StringRef Name = getSpelling(Given);
  error(Type.Range, diag::TypeWithoutFlag, Key, getSpelling(*Type), Name)
      .note(Type.Range, diag::NearestLegal, Key,
            Given == PrecisionKind::FP32 ? Name.str()
                                         : (Name + " or fp32").str());
}

void Deriver::checkSize(llvm::StringRef What, llvm::ArrayRef<Extent> Extents,
                        int64_t Factor) {
  Expr Product = number(Factor);
  for (const Extent E : Extents)
    Product *= of(*E);
  const Extent Largest = *std::max_element(
      Extents.begin(), Extents.end(),
      [](const Extent A, const Extent B) { return **A < **B; });
  // Which extent is to blame depends on the numbers: jobs like this one differ.
  if (ask({Check::Kind::Existence, Product, 0, diag::SizeOverflow}))
    return;
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
  auto CheckAttention = [&](const AttentionSpec &A) {
    if (*T.AttentionBackend == AttentionBackendKind::Unfused)
      checkSize(
          "a matrix of attention scores",
          {&T.Sequence, &T.Sequence, &A.Heads, &T.MicroBatch, &S.Parallel.Dp},
          MaxElementBytes);
    for (const auto &[Rank, Channels] :
         {std::pair(&A.QLora, &A.NopeDim), std::pair(&A.QLora, &A.RopeDim),
          std::pair(&A.KvLora, &A.NopeDim), std::pair(&A.KvLora, &A.VDim)})
      if (Rank->isPresent() && Channels->isPresent())
        checkSize("a weight of `heads`", {Rank, &A.Heads, Channels},
                  2 * MaxElementBytes);
    for (const Extent Channels :
         {&A.HeadDim, &A.NopeDim, &A.RopeDim, &A.VDim, &A.QLora, &A.KvLora})
      if (Channels->isStated())
        CheckWidth("heads", {&A.Heads, Channels}, Sides);
  };
  auto CheckNetwork = [&](const BlockSpec &B) {
    if (!B.Moe) {
      CheckWidth("intermediate", {&B.Ffn.Intermediate}, 2);
      return;
    }
    // An expert layer has topk copies of each token and `experts` weights.
    for (const Extent Copies : {&B.Moe->Experts, &B.Moe->TopK})
      CheckWidth("intermediate", {&B.Ffn.Intermediate, Copies}, 2);
    CheckWidth("hidden", {&M.Hidden, &B.Moe->TopK});
    if (B.Moe->SharedIntermediate.isStated())
      CheckWidth("shared_intermediate", {&B.Moe->SharedIntermediate}, 2);
    else
      CheckWidth("intermediate", {&B.Ffn.Intermediate, &B.Moe->Shared}, 2);
  };
  for (const BlockSpec &B : M.Blocks) {
    if (!B.Mixer)
      CheckAttention(B.Attention);
    if (!B.Network)
      CheckNetwork(B);
  }
}
