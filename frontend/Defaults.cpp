// SPDX-License-Identifier: Apache-2.0
//
// Constant defaults: the plainest choice, off where a feature can be off, so
// that nothing is spread or recomputed unless the job says so.
#include "frontend/Defaults.h"

using namespace foretrace;
using namespace foretrace::ir;

template <typename T> static void orElse(Located<T> &Field, T Default) {
  if (!Field.isPresent())
    Field.setDefault(Default);
}

void foretrace::applyDefaults(Spec &S) {
  orElse(S.Model.VocabMultiple, int64_t(128));
  orElse(S.Model.Norm, NormKind::LayerNorm);
  orElse(S.Model.Positions, PositionKind::Rope);
  orElse(S.Model.Tied, false);
  orElse(S.Model.Bias, false);
  for (BlockSpec &B : S.Model.Blocks)
    orElse(B.Ffn.Activation, ActivationKind::Gelu);

  orElse(S.Train.Precision, PrecisionKind::BF16);
  orElse(S.Train.Optimizer, OptimizerKind::Adam);
  orElse(S.Train.MomentPrecision, PrecisionKind::FP32);
  orElse(S.Train.OffloadOptimizer, false);
  orElse(S.Train.FusedWgrad, false);
  orElse(S.Train.Recompute, RecomputeKind::None);
  orElse(S.Train.OffloadActivations, false);
  // Fused attention masks by position; Megatron-LM's own examples of long
  // sequences pass --no-create-attention-mask-in-dataloader.
  orElse(S.Train.AttentionMask, false);
  orElse(S.Train.PerTokenLoss, false);
  orElse(S.Train.AttentionBackend, AttentionBackendKind::Fused);
  orElse(S.Train.Dropout, false);
  orElse(S.Train.FusedLoss, false);

  orElse(S.Parallel.Tp, int64_t(1));
  orElse(S.Parallel.SequenceParallel, false);
  orElse(S.Parallel.Cp, int64_t(1));
  orElse(S.Parallel.CpComm, CpCommKind::AllGather);
  orElse(S.Parallel.Pp, int64_t(1));
  orElse(S.Parallel.Vpp, int64_t(1));
  orElse(S.Parallel.OverlapExpertComm, false);
  orElse(S.Parallel.Ep, int64_t(1));
  // Megatron-LM without --use-distributed-optimizer.
  orElse(S.Parallel.Partition, PartitionKind::Uniform);
  orElse(S.Parallel.Balance, BalanceKind::Parameters);
  orElse(S.Parallel.Zero, int64_t(0));
  orElse(S.Parallel.ZeroRefetch, false);
  orElse(S.Parallel.ZeroPipeline, false);
  orElse(S.Parallel.RankOrder, RankOrderKind::TpCpEpDpPp);
  orElse(S.Parallel.EmbeddingAsLayer, false);
  orElse(S.Parallel.LossAsLayer, false);
  orElse(S.Parallel.Megatron, MegatronVersion::V0_19);

  orElse(S.Cost.Kind, CostKind::Uncosted);
  if (!S.Cluster)
    return;
  for (TierSpec &T : S.Cluster->Tiers) {
    orElse(T.Topology, TopologyKind::Switch);
    orElse(T.Links, int64_t(1));
  }
}

void foretrace::applyModelDefaults(Spec &S) {
  orElse(S.Train.Sequence, int64_t(1));
  orElse(S.Train.MicroBatch, int64_t(1));
  orElse(S.Parallel.World, int64_t(1));
}

llvm::ArrayRef<RequiredKey> foretrace::getRequiredKeys() {
  static constexpr RequiredKey Rows[] = {
      {"model", "vocab", "128256"},
      {"model", "hidden", "4096"},
      {"attention", "heads", "32"},
      {"block", "experts", "8"},
      {"block", "topk", "2"},
      {"train", "sequence", "4096"},
      {"train", "micro_batch", "1"},
      {"parallel", "world", "8"},
      {"device", "memory_bandwidth", "3350 GB/s"},
      {"link", "latency", "20 us"},
      {"link", "bandwidth", "160 GB/s"},
      {"cluster", "nodes", "16"},
      {"cluster", "devices_per_node", "8"},
      {"tier", "latency", "600 ns"},
  };
  return Rows;
}
