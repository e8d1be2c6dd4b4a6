// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that concerns serving: defaults of engines, and the step
// that the passes after it see. A step is the forward pass of a micro-batch of
// one sample, whose tokens are those of the step.

#include "analysis/DeviceMemory.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Passes.h"
#include "passes/derive/Deriver.h"
#include "llvm/Support/VersionTuple.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// What an engine does on a device with at least so much memory.
struct EngineDefaults {
  EngineKind Engine;
  UsageKind Usage;
  int64_t LeastGiB;
  int64_t MaxBatchTokens, MaxSequences;
};

} // namespace

/// vLLM, engine/arg_utils.py, get_batch_defaults; SGLang, srt/server_args.py;
/// TensorRT-LLM, llmapi/llm_args.py. The first row that fits.
static constexpr EngineDefaults Defaults[] = {
    {EngineKind::VLLM, UsageKind::Server, 160, 16384, 1024},
    {EngineKind::VLLM, UsageKind::Server, 70, 8192, 1024},
    {EngineKind::VLLM, UsageKind::Server, 0, 2048, 256},
    {EngineKind::VLLM, UsageKind::Offline, 70, 16384, 1024},
    {EngineKind::VLLM, UsageKind::Offline, 0, 8192, 256},
    {EngineKind::SGLang, UsageKind::Server, 160, 16384, 1024},
    {EngineKind::SGLang, UsageKind::Server, 60, 8192, 1024},
    {EngineKind::SGLang, UsageKind::Server, 35, 4096, 1024},
    {EngineKind::SGLang, UsageKind::Server, 0, 2048, 1024},
    {EngineKind::TensorRTLLM, UsageKind::Server, 0, 8192, 2048},
    {EngineKind::Generic, UsageKind::Server, 0, 8192, 256},
};

/// Returns the row for \p V on a device of \p Memory bytes; those of servers
/// hold for both usages where there are no others.
static const EngineDefaults &defaultsOf(const ServeSpec &V, int64_t Memory) {
  const int64_t GiB = Memory >> 30;
  for (const UsageKind Usage : {*V.Usage, UsageKind::Server})
    for (const EngineDefaults &D : Defaults)
      if (D.Engine == *V.Engine && D.Usage == Usage && GiB >= D.LeastGiB)
        return D;
  llvm_unreachable("each engine has a row for any memory");
}

/// Returns whether the release of the engine is at least \p Least; the newest
/// one is if the job states none.
static bool isSince(const ServeSpec &V, unsigned Major, unsigned Minor) {
  llvm::VersionTuple Version;
  return !V.Version.isPresent() || Version.tryParse(*V.Version) ||
         Version >= llvm::VersionTuple(Major, Minor);
}

/// Part of the memory in millionths; vLLM: config/cache.py,
/// gpu_memory_utilization, since 0.22.
static int64_t memoryFraction(const ServeSpec &V) {
  constexpr int64_t Most = 900'000, OfNewVLLM = 920'000;
  return *V.Engine == EngineKind::VLLM && isSince(V, 0, 22) ? OfNewVLLM : Most;
}

/// Tokens of a block.
static int64_t blockTokens(const ServeSpec &V) {
  switch (*V.Engine) {
  case EngineKind::SGLang:
    return 1;
  case EngineKind::TensorRTLLM:
    return 32;
  case EngineKind::Generic:
  case EngineKind::VLLM:
    return 16;
  }
  llvm_unreachable("every engine is handled");
}

/// Keys of `parallel` that a job that serves can't have.
void Deriver::checkServe() {
  const ParallelSpec &P = S.Parallel;
  auto Refuse = [&](const auto &Key, llvm::StringRef Name) {
    if (Key.isStated())
      error(Key.Range, diag::TrainOnlyKey, Name);
  };
  Refuse(P.Zero, "zero");
  Refuse(P.Vpp, "vpp");
  Refuse(P.Ga, "ga");
  Refuse(P.Schedule, "schedule");
  Refuse(P.SequenceParallel, "sequence_parallel");
  Refuse(P.OverlapGradReduce, "overlap_grad_reduce");
  Refuse(P.OverlapParamGather, "overlap_param_gather");
  Refuse(P.DpShard, "dp_shard");
  Refuse(P.DpFramework, "dp_framework");
}

/// Sets the keys of the forward pass of a step.
void Deriver::deriveStep() {
  const ServeSpec &V = *S.Serve;
  TrainSpec &T = S.Train;
  define(T.Sequence, of(V.MaxBatchTokens), V.MaxBatchTokens.Range, "sequence");
  T.MicroBatch.derive(1, V.Range);
  T.Precision.derive(*V.Precision, V.Precision.Range);
  const bool IsQuantized = *V.Quantized != QuantizedKind::None;
  const TypeKind Weights = IsQuantized ? *V.WeightPrecision
                                       : static_cast<TypeKind>(*V.Precision);
  T.WeightPrecision.derive(Weights, V.WeightPrecision.Range);
  T.ComputePrecision.derive(Weights, V.WeightPrecision.Range);
  T.ComputeCopies.derive(1, V.WeightPrecision.Range);
}

void Deriver::deriveServe() {
  if (!S.Serve)
    return;
  ServeSpec &V = *S.Serve;
  const RequestsSpec &R = *S.Requests;
  checkServe();
  const Expr Length = of(R.Input) + of(R.Output);
  if (!V.MaxLength.isPresent())
    define(V.MaxLength, Length, R.Input.Range, "max_length");
  else if (!holds(isAtMost(Length, of(V.MaxLength)), diag::ServeLength,
                  V.MaxLength))
    error(V.MaxLength.Range, diag::ServeLength, *R.Input, *R.Output,
          Length.value(), *V.MaxLength);
  const std::optional<DeviceMemory> Memory = deviceMemoryOf(S);
  const EngineDefaults &D = defaultsOf(V, Memory ? Memory->Bytes : INT64_MAX);
  if (!V.MaxBatchTokens.isPresent())
    V.MaxBatchTokens.derive(D.MaxBatchTokens, V.Engine.Range);
  if (!V.MaxSequences.isPresent()) // each has a token in a step
    define(V.MaxSequences, min(number(D.MaxSequences), of(V.MaxBatchTokens)),
           V.Engine.Range, "max_sequences");
  if (!V.MemoryFraction.isPresent())
    V.MemoryFraction.derive(memoryFraction(V), V.Engine.Range);
  if (!V.Block.isPresent())
    V.Block.derive(blockTokens(V), V.Engine.Range);
  if (!V.WeightPrecision.isPresent())
    V.WeightPrecision.derive(static_cast<TypeKind>(*V.Precision),
                             V.Precision.Range);
  if (!V.KvPrecision.isPresent())
    V.KvPrecision.derive(*findSpelling<CacheTypeKind>(getSpelling(*V.Precision)),
                         V.Precision.Range);
  const bool HasLatents = llvm::any_of(S.Model.Blocks, [](const BlockSpec &B) {
    return B.Mixer.find<int64_t>("kv_lora") != nullptr;
  });
  if (*V.KvPrecision == CacheTypeKind::FlashMLA && !HasLatents)
    error(V.KvPrecision.Range, diag::ServeCacheType,
          getSpelling(*V.KvPrecision));
  if (!V.StatePrecision.isPresent())
    V.StatePrecision.derive(*V.Engine == EngineKind::VLLM ? *V.Precision
                                                          : PrecisionKind::FP32,
                            V.Engine.Range);
  deriveStep();
}

/// Replicas of attention share experts, and nothing else.
void Deriver::checkInstance() {
  const ParallelSpec &P = S.Parallel;
  if (S.Serve && !HasExperts && exceeds(P.Dp, 1))
    error(P.World.Range, diag::ServeReplicas, *P.Dp, *P.World / *P.Dp,
          *S.Serve->Replicas * *P.Dp);
}

/// Reports ranks that are no whole replicas. A job that allows that has one.
void Deriver::refuseWorld(int64_t ReplicaRanks) {
  ParallelSpec &P = S.Parallel;
  error(P.World.Range, diag::ServeWorld, *P.World, ReplicaRanks);
  P.Dp.setDefault(1);
}
