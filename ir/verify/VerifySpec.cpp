// SPDX-License-Identifier: Apache-2.0
#include "ir/verify/VerifyParts.h"
#include "lang/diagnostics/IR.h"
#include "lang/diagnostics/Lang.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class SpecVerifier {
public:
  SpecVerifier(const Program &P, DiagnosticEngine &Diags)
      : S(P.Spec), M(P.Mesh), Diags(Diags),
        IsComplete(P.Facts.contains(Fact::Complete)),
        HasBlocks(P.level() >= Level::Model) {}

  void keys();
  bool mesh();

private:
  void attention(const AttentionSpec &A);
  void block(const BlockSpec &B);
  void costs();
  void cluster(const ClusterSpec &C);

  template <typename T> void need(const Located<T> &F, llvm::StringRef Key) {
    if (!F.isPresent())
      Diags.report(Section, diag::VerifyKey, Key);
  }
  /// What `derive` fills in.
  template <typename T>
  void needDerived(const Located<T> &F, llvm::StringRef Key) {
    if (IsComplete)
      need(F, Key);
  }

  const Spec &S;
  const Mesh &M;
  DiagnosticEngine &Diags;
  bool IsComplete;
  bool HasBlocks;
  SourceRange Section;
};

} // namespace

void SpecVerifier::attention(const AttentionSpec &A) {
  need(A.Kind, "kind");
  need(A.Heads, "heads");
  needDerived(A.KvHeads, "kv_heads");
  needDerived(A.QkNorm, "qk_norm");
  if (*A.Kind != AttentionKind::MLA)
    return needDerived(A.HeadDim, "head_dim");
  needDerived(A.QLora, "q_lora");
  needDerived(A.KvLora, "kv_lora");
  needDerived(A.RopeDim, "rope_dim");
  needDerived(A.NopeDim, "nope_dim");
  needDerived(A.VDim, "v_dim");
  needDerived(A.QRopeTp, "q_rope_tp");
}

void SpecVerifier::block(const BlockSpec &B) {
  Section = B.Range;
  attention(B.Attention);
  need(B.Ffn.Activation, "activation");
  needDerived(B.Ffn.Intermediate, "intermediate");
  needDerived(B.Ffn.LinearBias, "bias");
  if (!B.Moe)
    return;
  need(B.Moe->Experts, "experts");
  need(B.Moe->TopK, "topk");
  needDerived(B.Moe->Shared, "shared");
  needDerived(B.Moe->SharedIntermediate, "shared_intermediate");
  needDerived(B.Moe->SharedGate, "shared_gate");
  needDerived(B.Moe->SharedTp, "shared_tp");
  needDerived(B.Moe->RouterBias, "router_bias");
  needDerived(B.Moe->RouterPrecision, "router_precision");
  needDerived(B.Moe->Dispatcher, "dispatcher");
  needDerived(B.Moe->AuxLoss, "aux_loss");
}

void SpecVerifier::costs() {
  need(S.Cost.Kind, "cost kind");
  if (*S.Cost.Kind == CostKind::Roofline) {
    const DeviceSpec D = IsComplete ? S.Cost.Device : S.rooflineDevice();
    need(D.PeakFlops, "peak_flops");
    need(D.MemoryBandwidth, "memory_bandwidth");
  }
  for (const LinkSpec &L : S.Cost.Links) {
    need(L.Latency, "latency");
    need(L.Bandwidth, "bandwidth");
  }
}

void SpecVerifier::cluster(const ClusterSpec &C) {
  Section = C.Range;
  need(C.Nodes, "nodes");
  need(C.DevicesPerNode, "devices_per_node");
  if (C.Tiers.empty())
    Diags.report(Section, diag::VerifyKey, "tier");
  const auto Devices =
      Quantity<struct DeviceUnit>(*C.Nodes) * *C.DevicesPerNode;
  if (IsComplete && C.Nodes.isPresent() && C.DevicesPerNode.isPresent() &&
      (Devices.isOverflow() || *S.Parallel.World > Devices.value()))
    Diags.report(S.Parallel.World.Range, diag::VerifyCluster, *S.Parallel.World,
                 *C.Nodes, *C.DevicesPerNode);
  for (const TierSpec &T : C.Tiers) {
    Section = T.Range;
    needDerived(T.Devices, "devices");
    need(T.Topology, "topology");
    need(T.Links, "links");
    needDerived(T.Bandwidth, "bandwidth");
    need(T.Latency, "latency");
  }
}

void SpecVerifier::keys() {
  Section = S.Model.Range;
  need(S.Model.Vocab, "vocab");
  need(S.Model.VocabMultiple, "vocab_multiple");
  needDerived(S.Model.PaddedVocab, "padded_vocab");
  need(S.Model.Hidden, "hidden");
  need(S.Model.Norm, "norm");
  need(S.Model.Positions, "positions");
  needDerived(S.Model.MaxPositions, "max_positions");
  need(S.Model.Tied, "tied");
  need(S.Model.Bias, "bias");
  needDerived(S.Model.QkvBias, "qkv_bias");
  if (S.Model.Layers.empty())
    Diags.report(Section, diag::VerifyKey, "layers");
  if (IsComplete && S.Model.layerCount() > ModelSpec::MaxLayers)
    Diags.report(Section, diag::LayerLimit, S.Model.layerCount(),
                 ModelSpec::MaxLayers);
  need(S.Train.Sequence, "sequence");
  need(S.Train.MicroBatch, "micro_batch");
  needDerived(S.Train.GlobalBatch, "global_batch");
  need(S.Train.Precision, "precision");
  needDerived(S.Train.GradPrecision, "grad_precision");
  need(S.Train.Recompute, "recompute");
  need(S.Train.AttentionMask, "attention_mask");
  need(S.Train.PerTokenLoss, "per_token_loss");
  need(S.Train.AttentionBackend, "attention_backend");
  need(S.Train.Dropout, "dropout");
  need(S.Train.FusedLoss, "fused_loss");
  const ParallelSpec &P = S.Parallel;
  need(P.World, "world");
  need(P.Tp, "tp");
  need(P.SequenceParallel, "sequence_parallel");
  need(P.Cp, "cp");
  need(P.CpComm, "cp_comm");
  need(P.Pp, "pp");
  need(P.Vpp, "vpp");
  need(P.Ep, "ep");
  needDerived(P.Schedule, "schedule");
  needDerived(P.MicroBatchGroup, "micro_batch_group");
  needDerived(P.RankOrder, "rank_order");
  needDerived(P.Etp, "etp");
  needDerived(P.Dp, "dp");
  needDerived(P.Ga, "ga");
  needDerived(P.Partition, "partition");
  needDerived(P.Balance, "balance");
  need(P.Zero, "zero");
  need(P.ZeroRefetch, "zero_refetch");
  need(P.ZeroPipeline, "zero_pipeline");
  need(P.EmbeddingAsLayer, "embedding_as_layer");
  need(P.LossAsLayer, "loss_as_layer");
  need(P.Megatron, "megatron");
  costs();
  if (S.Cluster)
    cluster(*S.Cluster);
  for (const BlockSpec &B : S.Model.Blocks)
    block(B);
}

/// Ranks along \p Axes, which may be more than 2^63.
static Quantity<struct RankUnit> ranksOf(const Mesh &M,
                                         llvm::ArrayRef<Axis> Axes) {
  Quantity<RankUnit> N(1);
  for (Axis A : Axes)
    N = N * M[A];
  return N;
}

bool SpecVerifier::mesh() {
  Quantity<RankUnit> Dense = ranksOf(M, {Axis::Tp, Axis::Cp, Axis::Dp});
  Quantity<RankUnit> Expert = ranksOf(M, {Axis::Etp, Axis::Ep, Axis::Edp});
  const ParallelSpec &P = S.Parallel;
  if ((Dense * M[Axis::Pp]).isOverflow() || Expert.isOverflow()) {
    Diags.report(P.World.Range, diag::VerifyOverflow, "the number of ranks");
    return false;
  }
  if (HasBlocks && Expert.value() != 1 && Expert != Dense)
    Diags.report(P.World.Range, diag::VerifyViews, Dense.value(),
                 Expert.value());
  if (!IsComplete)
    return true;
  if (P.Vpp.isPresent() && P.Ga.isPresent() && P.MicroBatchGroup.isPresent() &&
      !verifySizes(P, {M[Axis::Pp], *P.Vpp, *P.Ga, *P.MicroBatchGroup}, Diags))
    return false;
  const struct {
    Axis Which;
    const Located<int64_t> &Key;
  } Rows[] = {{Axis::Tp, P.Tp},
              {Axis::Cp, P.Cp},
              {Axis::Dp, M[Axis::DpReplicate] == 1 ? P.Dp : P.DpShard},
              {Axis::Pp, P.Pp}};
  for (const auto &R : Rows)
    if (R.Key.isPresent() && *R.Key != M[R.Which])
      Diags.report(R.Key.Range, diag::VerifyMesh, getName(R.Which), M[R.Which],
                   *R.Key);
  return true;
}

bool foretrace::ir::verifySpec(const Program &P, DiagnosticEngine &Diags) {
  SpecVerifier V(P, Diags);
  // A program above the spec level may stand without one, e.g. in a test.
  if (P.level() == Level::Spec || P.Facts.contains(Fact::Complete))
    V.keys();
  return V.mesh();
}
