// SPDX-License-Identifier: Apache-2.0
//
// Constant defaults: the plainest choice, off where a feature can be off, so
// that nothing is spread or recomputed unless the job says so.
#include "frontend/Defaults.h"
#include "frontend/Frontend.h"
#include "ir/model/SpecFields.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Frontend.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace foretrace;

template <typename T> static void orElse(Located<T> &Field, T Default) {
  if (!Field.isPresent())
    Field.setDefault(Default);
}

void foretrace::applyDefaults(ir::Spec &S) {
  orElse(S.Model.VocabMultiple, int64_t(128));
  orElse(S.Model.Norm, ir::NormKind::LayerNorm);
  orElse(S.Model.NormPlacement, ir::NormPlacementKind::Pre);
  orElse(S.Model.EmbeddingNorm, false);
  orElse(S.Model.EmbeddingWidth, int64_t(0));
  orElse(S.Model.HeadBias, false);
  orElse(S.Model.Positions, ir::PositionKind::Rope);
  orElse(S.Model.Tied, false);
  orElse(S.Model.Bias, false);

  orElse(S.Train.Precision, ir::PrecisionKind::BF16);
  orElse(S.Train.Optimizer, ir::OptimizerKind::Adam);
  orElse(S.Train.OffloadOptimizer, false);
  orElse(S.Train.FusedWgrad, false);
  orElse(S.Train.Recompute, ir::RecomputeKind::None);
  orElse(S.Train.OffloadActivations, false);
  // Fused attention masks by position; Megatron-LM's own examples of long
  // sequences pass --no-create-attention-mask-in-dataloader.
  orElse(S.Train.AttentionMask, false);
  orElse(S.Train.PerTokenLoss, false);
  orElse(S.Train.AttentionBackend, ir::AttentionBackendKind::Fused);
  orElse(S.Train.TransformerImpl, ir::TransformerImplKind::TransformerEngine);
  orElse(S.Train.Dropout, false);
  orElse(S.Train.FusedLoss, ir::FusedLossKind::None);

  orElse(S.Parallel.Tp, int64_t(1));
  orElse(S.Parallel.SequenceParallel, false);
  orElse(S.Parallel.Cp, int64_t(1));
  orElse(S.Parallel.CpComm, ir::CpCommKind::AllGather);
  orElse(S.Parallel.Pp, int64_t(1));
  orElse(S.Parallel.Vpp, int64_t(1));
  orElse(S.Parallel.OverlapExpertComm, false);
  orElse(S.Parallel.Ep, int64_t(1));
  // Megatron-LM without --use-distributed-optimizer.
  orElse(S.Parallel.Partition, ir::PartitionKind::Uniform);
  orElse(S.Parallel.Balance, ir::BalanceKind::Parameters);
  orElse(S.Parallel.Zero, int64_t(0));
  orElse(S.Parallel.ZeroRefetch, false);
  orElse(S.Parallel.ZeroPipeline, false);
  orElse(S.Parallel.RankOrder, ir::RankOrderKind::TpCpEpDpPp);
  orElse(S.Parallel.EmbeddingAsLayer, false);
  orElse(S.Parallel.LossAsLayer, false);
  orElse(S.Parallel.Megatron, ir::MegatronVersion::V0_19);

  orElse(S.Cost.Kind, ir::CostKind::Uncosted);
  if (!S.Serve) { // training makes no rotary tables
    ir::ModelSpec &M = S.Model;
    M.RotaryPositions = M.LocalRotaryPositions = M.RotaryDim = {};
    return;
  }
  orElse(S.Requests->Concurrency, int64_t(1));
  orElse(S.Serve->Engine, ir::EngineKind::Generic);
  orElse(S.Serve->Usage, ir::UsageKind::Server);
  orElse(S.Serve->Precision, ir::PrecisionKind::BF16);
  orElse(S.Serve->Quantized, ir::QuantizedKind::All);
  orElse(S.Serve->HybridCache, true);
  orElse(S.Serve->PrefixCaching, true);
  orElse(S.Serve->DeepEPMaxTokens, int64_t(128));
  orElse(S.Serve->RedundantExperts, int64_t(0));
  orElse(S.Serve->Replicas, int64_t(1));
  orElse(S.Requests->Prefix, int64_t(0));
  if (S.Draft)
    orElse(S.Draft->Tokens, int64_t(1));
  if (S.Lora)
    orElse(S.Lora->Targets, std::string("qkv o gate_up down"));
}

void foretrace::applyDefaults(ir::ClusterSpec &C) {
  for (ir::TierSpec &T : C.Tiers) {
    orElse(T.Topology, ir::TopologyKind::Switch);
    orElse(T.Links, int64_t(1));
  }
}

void foretrace::reduceToModel(ir::Spec &S) {
  ir::TrainSpec Train;
  Train.Sequence = S.Train.Sequence;
  S.Train = std::move(Train);
  S.Parallel = {};
  S.Requests.reset();
  S.Serve.reset();
  S.Draft.reset();
  S.Lora.reset();
  S.Cost = {};
  S.Cluster.reset();
  S.Model.PaddedVocab = {};
  applyDefaults(S);
}

void foretrace::applyModelDefaults(ir::Spec &S) {
  // Some layers take groups of tokens as one, or insert those of an image.
  constexpr int64_t Tokens = 4096;
  const Located<int64_t> &Positions = S.Model.MaxPositions;
  orElse(S.Train.Sequence,
         Positions.isPresent() ? std::min(Tokens, *Positions) : Tokens);
  orElse(S.Train.MicroBatch, int64_t(1));
  orElse(S.Parallel.World, int64_t(1));
}

llvm::ArrayRef<RequiredKey> foretrace::getRequiredKeys() {
  static constexpr RequiredKey Rows[] = {
      {"model", "vocab", "128256"},
      {"model", "hidden", "4096"},
      {"attention", "heads", "32"},
      {"attention", "kv_heads", "8"},
      {"attention", "kv_lora", "512"},
      {"attention", "rope_dim", "64"},
      {"attention", "nope_dim", "128"},
      {"attention", "v_dim", "128"},
      {"block", "experts", "8"},
      {"block", "topk", "2"},
      {"train", "sequence", "4096"},
      {"train", "micro_batch", "1"},
      {"parallel", "world", "8"},
      {"requests", "input", "1024"},
      {"requests", "output", "1024"},
      {"draft", "kind", "mtp"},
      {"draft", "acceptance", "0.8"},
      {"lora", "slots", "8"},
      {"lora", "rank", "16"},
      {"device", "memory_bandwidth", "3350 GB/s"},
      {"link", "latency", "20 us"},
      {"link", "bandwidth", "160 GB/s"},
      {"cluster", "nodes", "16"},
      {"cluster", "devices_per_node", "8"},
      {"tier", "latency", "600 ns"},
  };
  return Rows;
}

bool foretrace::isRequired(llvm::StringRef Section, llvm::StringRef Name) {
  return llvm::any_of(getRequiredKeys(), [&](const RequiredKey &R) {
    return R.Section == Section && R.Name == Name;
  });
}

std::vector<std::string> foretrace::assumedKeys(const ir::Spec &S) {
  std::vector<std::string> Keys;
  ir::visitJob(S, [&](const ir::FieldRow &Row, const auto &F) {
    using Status = typename std::decay_t<decltype(F)>::Status;
    const std::string Section = ir::keywordOf(Row.Section);
    if (F.From == Status::Default && isRequired(Section, Row.Name))
      Keys.push_back(Section + "." + Row.Name.str() + "=" + ir::spell(*F));
  });
  return Keys;
}

std::optional<DiagnosticBuilder> foretrace::reportAssumed(
    llvm::ArrayRef<std::string> Keys, llvm::StringRef Name,
    DiagnosticEngine &Diags,
    llvm::function_ref<std::string(llvm::StringRef)> Word) {
  std::vector<std::string> Options;
  for (const llvm::StringRef Key : Keys) // one of a block has no option
    Options.push_back(Key.starts_with("model.")
                          ? "-D " + Word(Key)
                          : "--" + Word(Key.split('.').second));
  if (Options.empty())
    return std::nullopt;
  return Diags.report({}, diag::AssumedKeys, Name, llvm::join(Options, " "));
}
