// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that concerns serving: defaults of engines, and the step
// that the passes after it see. A step is the forward pass of a micro-batch of
// one sample, whose tokens are those of the step.

#include "analysis/CacheTransfer.h"
#include "analysis/DeviceMemory.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/derive/Deriver.h"
#include "llvm/Support/VersionTuple.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Limits of a step of an engine on devices with at least so much memory.
struct EngineDefaults {
  EngineKind Engine;
  UsageKind Usage;
  int64_t LeastGiB;
  int64_t MaxBatchTokens, MaxSequences;
};

} // namespace

/// vLLM, engine/arg_utils.py; SGLang, srt/server_args.py; TensorRT-LLM,
/// llmapi/llm_args.py. The first row that fits counts. SGLang derives its
/// sequences from memory instead, and generic numbers are plain choices.
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

/// Memory of a device that no cluster tells.
constexpr int64_t UnknownDevice = int64_t(80) << 30;

static int64_t memoryOf(const Spec &S) {
  const std::optional<DeviceMemory> Memory = deviceMemoryOf(S);
  return Memory ? Memory->Bytes : UnknownDevice;
}

/// Returns the row for the device of \p S; rows of servers hold for both usages
/// where there are no others. vLLM counts an A100 among small devices.
static const EngineDefaults &defaultsOf(const Spec &S) {
  const ServeSpec &V = *S.Serve;
  const bool IsA100 =
      S.Cluster && S.Cluster->Device.Name.isPresent() &&
      llvm::StringRef(*S.Cluster->Device.Name).contains("A100") &&
      *V.Engine == EngineKind::VLLM;
  const int64_t GiB = IsA100 ? 0 : memoryOf(S) >> 30;
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

/// Largest captured batch of SGLang by GiB of memory (server_args.py).
static int64_t graphBatch(int64_t GiB, bool IsSplit) {
  return GiB < 20    ? 8
         : GiB < 35  ? (IsSplit ? 80 : 24)
         : GiB < 60  ? (IsSplit ? 160 : 32)
         : GiB < 160 ? (IsSplit ? 512 : 256)
                     : 512;
}

/// Returns the part of the memory that SGLang takes, in millionths, rounded to
/// three digits: what is left beside activations, graphs and buffers
/// (srt/server_args.py, in MiB).
Expr Deriver::sglangFraction() {
  constexpr int64_t Piecewise = 58 * 8; // graphs of up to 8192 tokens
  const ParallelSpec &P = S.Parallel;
  const int64_t MiB = memoryOf(S) >> 20, GiB = MiB >> 10;
  const Expr Chunk = max(of(S.Serve->MaxBatchTokens), number(2048));
  Expr Reserved = floorDiv(Chunk * 3, number(2)) + of(P.Tp) * of(P.Pp) * 128 +
                  (512 + 2 * graphBatch(GiB, exceeds(P.Tp, 3)) + Piecewise);
  if (GiB > 60)
    Reserved = max(Reserved, number(10240));
  const Expr Thousandths = floorDiv(Reserved * 1000 + MiB / 2, number(MiB));
  return max(Thousandths * -1 + 1000, number(1)) * 1000;
}

/// Returns the part of the memory that an engine takes, in millionths; vLLM:
/// config/cache.py, gpu_memory_utilization, since 0.22.
Expr Deriver::memoryFraction() {
  constexpr int64_t Most = 900'000, OfNewVLLM = 920'000;
  if (*S.Serve->Engine == EngineKind::SGLang)
    return sglangFraction();
  return number(*S.Serve->Engine == EngineKind::VLLM && isSince(*S.Serve, 0, 22)
                    ? OfNewVLLM
                    : Most);
}

/// Returns the tokens of a block.
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

/// Reports keys that a job that serves cannot have.
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
  if (exceeds(P.Cp, 1))
    error(P.Cp.Range, diag::TrainOnlyKey, "cp");
  const ServeSpec &V = *S.Serve;
  llvm::VersionTuple Version;
  if (V.Version.isPresent() && Version.tryParse(*V.Version))
    error(V.Version.Range, diag::ServeVersion, *V.Version);
  if (*V.Quantized == QuantizedKind::None && V.WeightPrecision.isStated())
    error(V.WeightPrecision.Range, diag::KeyWithoutEffect, "weight_precision",
          "with `quantized = none`");
}

/// Returns the tokens of a sequence in a step of decode: the last one, and
/// those that are proposed.
Expr Deriver::verifiedTokens() {
  return S.Draft ? of(S.Draft->Tokens) + 1 : number(1);
}

/// Reports what proposes no tokens.
void Deriver::checkDraft() {
  if (!S.Draft)
    return;
  const DraftSpec &D = *S.Draft;
  if (*D.Kind == DraftKind::Mtp && !S.Model.Branch)
    error(D.Kind.Range, diag::ServeDraftLayers);
  constexpr int64_t Most = 64; // no engine proposes as many
  if (!holds(isAtMost(of(D.Tokens), number(Most)), diag::ServeDraftTokens,
             D.Tokens))
    error(D.Tokens.Range, diag::ServeDraftTokens, *D.Tokens, Most);
  const auto Values =
      static_cast<int64_t>(DraftSpec::acceptances(*D.Acceptance)->size());
  if (Values == 1 || // of all tokens
      holds(combine(ExprOp::Equal, of(D.Tokens), number(Values)),
            diag::ServeDraftLength, D.Tokens))
    return;
  DiagnosticBuilder B =
      error(D.Acceptance.Range, diag::ServeDraftLength, Values, *D.Tokens);
  if (D.Tokens.isStated())
    B.fix(D.Tokens.Range, llvm::Twine(Values));
}

/// Prediction layers are held, but their passes are no part of the step that
/// verifies.
void Deriver::dropBranch() {
  ModelSpec &M = S.Model;
  if (!M.Branch || *S.Serve->Step == StepKind::Largest)
    return;
  const unsigned Block = M.Branch->Block;
  M.Branch.reset();
  M.Blocks.erase(M.Blocks.begin() + Block);
  for (LayerRun &R : M.Layers)
    for (LayerRun::Item &I : R.Items)
      I.Block -= I.Block > Block;
}

/// Returns the sequences of \p Wanted for whose tokens a step of decode has
/// room; the others wait (vLLM, v1/core/sched/scheduler.py, token_budget).
/// Chunks of prompts alone bound a step of SGLang.
Expr Deriver::sequencesInStep(Expr Wanted, Expr TokensOfEach) {
  const ServeSpec &V = *S.Serve;
  if (*V.Engine == EngineKind::SGLang)
    return Wanted;
  const Expr Most =
      max(floorDiv(of(V.MaxBatchTokens), TokensOfEach), number(1));
  if (Most.value() < Wanted.value())
    Diags.report(V.MaxBatchTokens.Range, diag::ServeStepTokens, Most.value(),
                 Wanted.value(), TokensOfEach.value(), *V.MaxBatchTokens);
  return min(Wanted, Most);
}

/// Reports keys that the step which a job describes does not read.
void Deriver::checkStepKeys() {
  const ServeSpec &V = *S.Serve;
  const RequestsSpec &R = *S.Requests;
  if (V.Step.isStated() && *V.Step == StepKind::Largest && V.Context.isStated())
    error(V.Context.Range, diag::KeyWithoutEffect, "context",
          "in the largest step");
  // What another engine sends depends on both of the others.
  if (*V.Step != StepKind::Decode || !V.Peer.empty())
    return;
  if (R.Prefix.isStated() && *R.Prefix > 0)
    error(R.Prefix.Range, diag::KeyWithoutEffect, "prefix",
          "in a step of decode");
  if (R.HitRate.isStated())
    error(R.HitRate.Range, diag::KeyWithoutEffect, "hit_rate",
          "in a step of decode");
}

/// Sets the tokens of the step, of one attention replica.
void Deriver::deriveStep() {
  if (!S.Serve)
    return;
  ServeSpec &V = *S.Serve;
  const RequestsSpec &R = *S.Requests;
  TrainSpec &T = S.Train;
  Expr Tokens = of(V.MaxBatchTokens), Sequences = number(1), Context = Tokens;
  SourceRange From = V.MaxBatchTokens.Range;
  if (*V.Step == StepKind::Prefill) {
    Tokens = of(R.Input) + cachedTokens(Program) * -1;
    Context = of(R.Input);
    From = R.Input.Range;
  } else if (*V.Step == StepKind::Decode) {
    Tokens = verifiedTokens();
    Sequences =
        min(ceilDiv(of(R.Concurrency), of(V.Replicas) * of(S.Parallel.Dp)),
            of(V.MaxSequences));
    Sequences = sequencesInStep(Sequences, Tokens);
    Context = of(R.Input) + floorDiv(of(R.Output), number(2));
    if (S.Draft)
      Context = max(Context, Tokens);
    From = R.Concurrency.Range;
  }
  define(T.Sequence, Tokens, From, "sequence");
  define(T.MicroBatch, Sequences, From, "micro_batch");
  if (!V.Context.isPresent() || *V.Step == StepKind::Largest)
    define(V.Context, Context, R.Input.Range, "context");
  else if (!holds(isAtMost(Tokens, of(V.Context)), diag::ServeContext,
                  V.Context))
    error(V.Context.Range, diag::ServeContext, *V.Context, Tokens.value());
  else if (!holds(isAtMost(of(V.Context), of(V.MaxLength)),
                  diag::ServeContextLength, V.Context))
    error(V.Context.Range, diag::ServeContextLength, *V.Context, *V.MaxLength);
}

void Deriver::deriveServe() {
  if (!S.Serve)
    return;
  ServeSpec &V = *S.Serve;
  const RequestsSpec &R = *S.Requests;
  checkServe();
  ModelSpec &M = S.Model;
  if (!M.RotaryPositions.isPresent() && M.MaxPositions.isStated() &&
      M.Positions.is(PositionKind::Rope) &&
      define(M.RotaryPositions, of(M.MaxPositions), M.MaxPositions.Range,
             "rotary_positions"))
    M.RotaryPositions.state(*M.MaxPositions, M.MaxPositions.Range); // by that
  if (!holds(isAtMost(of(R.Prefix), of(R.Input)), diag::RequestsPrefix,
             R.Prefix))
    error(R.Prefix.Range, diag::RequestsPrefix, *R.Prefix, *R.Input);
  const Expr Length = of(R.Input) + of(R.Output);
  if (!V.MaxLength.isPresent())
    define(V.MaxLength, Length, R.Input.Range, "max_length");
  else if (!holds(isAtMost(Length, of(V.MaxLength)), diag::ServeLength,
                  V.MaxLength))
    error(V.MaxLength.Range, diag::ServeLength, *R.Input, *R.Output,
          Length.value(), *V.MaxLength);
  const EngineDefaults &D = defaultsOf(S);
  const Expr Sequences =
      V.MaxSequences.isPresent() ? of(V.MaxSequences) : number(D.MaxSequences);
  if (!V.MaxBatchTokens.isPresent()) // no more than all sequences have
    define(V.MaxBatchTokens,
           min(number(D.MaxBatchTokens), Sequences * of(V.MaxLength)),
           V.Engine.Range, "max_batch_tokens");
  if (!V.MaxSequences.isPresent()) // each has its tokens in a step
    define(V.MaxSequences,
           S.Draft ? max(min(Sequences,
                             floorDiv(of(V.MaxBatchTokens), verifiedTokens())),
                         number(1))
                   : min(Sequences, of(V.MaxBatchTokens)),
           V.Engine.Range, "max_sequences");
  // vLLM, config/scheduler.py, SchedulerConfig.
  if (V.isLikeVLLM() &&
      !holds(isAtMost(of(V.MaxSequences), of(V.MaxBatchTokens)),
             diag::ServeSequences, V.MaxBatchTokens))
    error(V.MaxBatchTokens.Range, diag::ServeSequences, *V.MaxBatchTokens,
          *V.MaxSequences)
        .noteValue("max_sequences", V.MaxSequences);
  if (!V.MemoryFraction.isPresent())
    define(V.MemoryFraction, memoryFraction(), V.Engine.Range,
           "memory_fraction");
  if (!V.Block.isPresent())
    V.Block.derive(blockTokens(V), V.Engine.Range);
  if (!V.Exchange.isPresent())
    V.Exchange.derive(ExchangeKind::AllGather, V.Engine.Range);
  if (!V.Step.isPresent())
    V.Step.derive(V.Name == "prefill" ? StepKind::Prefill : StepKind::Decode,
                  V.Range);
  checkStepKeys();
  checkDraft();
  dropBranch();
  deriveServedTypes();
}

/// Returns the ranks that split an expert where the job states none: those of
/// tp, and in an engine all that ep leaves (vLLM,
/// model_executor/layers/fused_moe/config.py, FusedMoEParallelConfig.make).
Expr Deriver::expertTp() {
  const ParallelSpec &P = S.Parallel;
  if (!S.Serve)
    return of(P.Tp);
  const Expr Ranks = of(P.Tp) * of(P.Dp), Ep = of(P.Ep);
  return decide(isMultiple(Ranks, Ep)) == 1
             ? Ranks / Ep
             : max(floorDiv(Ranks, Ep), number(1));
}

/// Replicas of attention share experts, and nothing else.
void Deriver::checkInstance() {
  const ParallelSpec &P = S.Parallel;
  if (S.Serve && !HasExperts && exceeds(P.Dp, 1))
    error(P.World.Range, diag::ServeReplicas, *P.Dp, *P.World / *P.Dp,
          *S.Serve->Replicas * *P.Dp);
  if (S.Serve && !HasExperts && S.Serve->Quantized.is(QuantizedKind::Experts))
    error(S.Serve->Quantized.Range, diag::KeyWithoutEffect, "quantized",
          "without experts");
  if (!S.Serve || !S.Serve->Exchange.isStated())
    return;
  const auto &Exchange = S.Serve->Exchange;
  if (!HasExperts)
    error(Exchange.Range, diag::KeyWithoutEffect, "exchange",
          "without experts");
  else if (!exceeds(P.Dp, 1))
    error(Exchange.Range, diag::KeyWithoutEffect, "exchange",
          "with dp = 1: each rank has all tokens");
}

/// Reports ranks that are no whole replicas. A job that allows that has one.
void Deriver::refuseWorld(int64_t ReplicaRanks) {
  ParallelSpec &P = S.Parallel;
  error(P.World.Range, diag::ServeWorld, *P.World, ReplicaRanks);
  P.Dp.setDefault(1);
}
