// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that concerns the release of Megatron-LM that the job
// runs with: keys that it does not have yet, or not any more.

#include "ir/model/Spellings.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/Recomputation.h"
#include "passes/derive/Deriver.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Where something of a job is said, if it is.
using KeyRange = std::optional<SourceRange>;

/// What releases of Megatron-LM core have from some one on. Numbers that are
/// read were decided before.
struct NewKey {
  llvm::StringLiteral What;
  MegatronVersion Since;
  KeyRange (*Find)(const Spec &S);
};

/// A combination that the training scripts of these releases refuse. The models
/// run it if another program trains them, such as Megatron-Bridge, so it is no
/// error.
struct RefusedPair {
  llvm::StringLiteral What, Needs, Found, By;
  KeyRange (*Find)(const Spec &S); ///< where it is said
  MegatronVersion Since = MegatronVersion::V0_7;
  MegatronVersion Until = MegatronVersion::V0_19;
};

constexpr llvm::StringLiteral Arguments =
    "training/arguments.py, validate_args";
constexpr llvm::StringLiteral Training = "training/training.py, get_model";
constexpr llvm::StringLiteral Config =
    "transformer/transformer_config.py, __post_init__";

} // namespace

/// Where a key says so, if \p Holds.
template <typename T> static KeyRange where(bool Holds, const Located<T> &Key) {
  return Holds ? KeyRange(Key.Range) : std::nullopt;
}

template <OptimizerKind Kind> static KeyRange findOptimizer(const Spec &S) {
  return where(*S.Train.Optimizer == Kind, S.Train.Optimizer);
}

/// Megatron-LM, training/arguments.py; megatron/core, transformer_config.py,
/// model_parallel_config.py, optimizer_config.py: the first release
/// in which they stand.
static constexpr NewKey NewKeys[] = {
    {"first_stage_layers", MegatronVersion::V0_9,
     [](const Spec &S) {
       const auto &Key = S.Parallel.FirstStageLayers;
       return where(Key.isPresent(), Key);
     }},
    {"last_stage_layers", MegatronVersion::V0_9,
     [](const Spec &S) {
       const auto &Key = S.Parallel.LastStageLayers;
       return where(Key.isPresent(), Key);
     }},
    {"embedding_as_layer", MegatronVersion::V0_11,
     [](const Spec &S) {
       const auto &Key = S.Parallel.EmbeddingAsLayer;
       return where(*Key, Key);
     }},
    {"loss_as_layer", MegatronVersion::V0_11,
     [](const Spec &S) {
       const auto &Key = S.Parallel.LossAsLayer;
       return where(*Key, Key);
     }},
    {"optimizer = precision_aware", MegatronVersion::V0_11,
     findOptimizer<OptimizerKind::PrecisionAware>},
    // DeepSpeed offloads other optimizers, whatever the release.
    {"offload_optimizer", MegatronVersion::V0_12,
     [](const Spec &S) {
       const auto &Key = S.Train.OffloadOptimizer;
       const bool IsOfMegatron =
           *S.Train.Optimizer == OptimizerKind::PrecisionAware;
       return where(*Key && IsOfMegatron, Key);
     }},
    {"ddp_num_buckets", MegatronVersion::V0_12,
     [](const Spec &S) {
       const auto &Key = S.Parallel.DdpNumBuckets;
       return where(Key.isPresent(), Key);
     }},
    {"ddp_pad_buckets", MegatronVersion::V0_12,
     [](const Spec &S) {
       const auto &Key = S.Parallel.DdpPadBuckets;
       return where(Key.is(true), Key);
     }},
    {"recompute_modules", MegatronVersion::V0_12,
     [](const Spec &S) {
       const auto &Key = S.Train.RecomputeModules;
       return where(Key.isPresent(), Key);
     }},
    {"fused_loss = te", MegatronVersion::V0_12,
     [](const Spec &S) {
       const auto &Key = S.Train.FusedLoss;
       return where(*Key == FusedLossKind::TransformerEngine, Key);
     }},
    {"layout", MegatronVersion::V0_13,
     [](const Spec &S) {
       const ParallelSpec &P = S.Parallel;
       return P.Layout.empty() ? KeyRange() : P.LayoutRange;
     }},
    {"overlap_moe_expert_parallel_comm", MegatronVersion::V0_14,
     [](const Spec &S) {
       const auto &Key = S.Parallel.OverlapExpertComm;
       return where(*Key, Key);
     }},
    {"optimizer = muon", MegatronVersion::V0_16,
     findOptimizer<OptimizerKind::Muon>},
};

/// Whether the modules that `recompute = selective` recomputes include \p Name.
static bool recomputes(const TrainSpec &T, llvm::StringRef Name) {
  if (*T.Recompute != RecomputeKind::Selective)
    return false;
  return T.RecomputeModules.isPresent() ? llvm::is_contained(modulesOf(T), Name)
                                        : Name == "core_attn";
}

/// Whether any layer has experts: then graphs have attention and routers alone.
static bool hasExperts(const ModelSpec &M) {
  return llvm::any_of(M.Layers, [&](const LayerRun &R) {
    return llvm::any_of(R.Items, [&](const LayerRun::Item &I) {
      return M.Blocks[I.Block].Network.find<int64_t>("experts") != nullptr;
    });
  });
}

/// Whether the weights are in one of the scaled types of 8 bits.
static bool hasScaledWeights(const TrainSpec &T) {
  const TypeKind Type = *T.WeightPrecision;
  return Type == TypeKind::FP8 || Type == TypeKind::FP8Block ||
         Type == TypeKind::MXFP8;
}

/// Where both ends of a pipeline without stages between them have numbers of
/// layers of their own, by which some releases divide.
static KeyRange findEndsOfTwo(const Spec &S) {
  const ParallelSpec &P = S.Parallel;
  return where(P.FirstStageLayers.isPresent() &&
                   P.LastStageLayers.isPresent() && *P.Pp == 2,
               P.FirstStageLayers);
}

static constexpr RefusedPair RefusedPairs[] = {
    {"first_stage_layers",
     "`last_stage_layers` not to be set before core 0.13 with two stages",
     "pp = 2", Config, findEndsOfTwo, MegatronVersion::V0_10,
     MegatronVersion::V0_12},
    {"first_stage_layers",
     "`last_stage_layers` not to be set with two stages and vpp above 1",
     "pp = 2", "transformer/transformer_layer.py, get_transformer_layer_offset",
     [](const Spec &S) {
       return *S.Parallel.Vpp > 1 ? findEndsOfTwo(S) : std::nullopt;
     },
     MegatronVersion::V0_13},
    {"overlap_param_gather", "`zero = 1` to 3", "zero = 0", Arguments,
     [](const Spec &S) {
       const auto &Key = S.Parallel.OverlapParamGather;
       return where(Key.is(true) && *S.Parallel.Zero == 0, Key);
     }},
    {"overlap_param_gather", "`overlap_grad_reduce = true`",
     "overlap_grad_reduce is not set", Arguments,
     [](const Spec &S) {
       const auto &Key = S.Parallel.OverlapParamGather;
       return where(Key.is(true) && !S.Parallel.OverlapGradReduce.is(true),
                    Key);
     }},
    {"overlap_param_gather_with_optimizer_step",
     "`overlap_param_gather = true`, `zero = 1` and vpp above 1",
     "one is missing", Arguments,
     [](const Spec &S) {
       const ParallelSpec &P = S.Parallel;
       const auto &Key = P.OverlapParamGatherWithOptimizerStep;
       return where(Key.is(true) && (!P.OverlapParamGather.is(true) ||
                                     *P.Zero != 1 || *P.Vpp == 1),
                    Key);
     }},
    {"ddp_num_buckets", "no ddp_bucket_size", "both are set", Training,
     [](const Spec &S) {
       const auto &Key = S.Parallel.DdpNumBuckets;
       return where(Key.isPresent() && S.Parallel.DdpBucketSize.isPresent(),
                    Key);
     },
     MegatronVersion::V0_12},
    {"overlap_grad_reduce", "another optimizer before core 0.18",
     "optimizer = muon", Arguments,
     [](const Spec &S) {
       const auto &Key = S.Parallel.OverlapGradReduce;
       return where(Key.is(true) && *S.Train.Optimizer == OptimizerKind::Muon,
                    Key);
     },
     MegatronVersion::V0_16, MegatronVersion::V0_17},
    {"tp_comm_overlap", "`sequence_parallel = true`",
     "sequence_parallel = false", Arguments,
     [](const Spec &S) { // with tp = 1, checkEffects has unset it
       const auto &Key = S.Parallel.TpCommOverlap;
       return where(Key.is(true) && !*S.Parallel.SequenceParallel, Key);
     }},
    {"offload_optimizer",
     "a weight_precision that is not scaled, or `fp8` with delayed scaling",
     "weight_precision is scaled", Arguments,
     [](const Spec &S) { // without precision_aware, checkOptimizer warns
       const auto &Key = S.Train.OffloadOptimizer;
       return where(*Key &&
                        *S.Train.Optimizer == OptimizerKind::PrecisionAware &&
                        hasScaledWeights(S.Train),
                    Key);
     },
     MegatronVersion::V0_14},
    {"cuda_graphs", "`recompute = none` or `selective`", "recompute = full",
     Config,
     [](const Spec &S) {
       const auto &Key = S.Train.CudaGraphs;
       return where(Key.is(true) && *S.Train.Recompute == RecomputeKind::Full,
                    Key);
     }},
    {"cuda_graphs", "`offload_activations = false`",
     "offload_activations = true", Config,
     [](const Spec &S) {
       const auto &Key = S.Train.CudaGraphs;
       return where(Key.is(true) && *S.Train.OffloadActivations, Key);
     }},
    {"cuda_graphs", "no `moe` in `recompute_modules`", "it has `moe`", Config,
     [](const Spec &S) {
       const auto &Key = S.Train.CudaGraphs;
       return where(Key.is(true) && recomputes(S.Train, "moe"), Key);
     },
     MegatronVersion::V0_16},
    {"cuda_graphs", "`dropout = false` for modules recomputed inside graphs",
     "dropout = true", Config,
     [](const Spec &S) {
       const auto &Key = S.Train.CudaGraphs;
       const bool IsInside =
           recomputes(S.Train, "core_attn") ||
           (recomputes(S.Train, "mlp") && !hasExperts(S.Model));
       return where(Key.is(true) && *S.Train.Dropout && IsInside, Key);
     },
     MegatronVersion::V0_16},
};

/// Reports what releases before \p Least can't do, or do in a way that isn't
/// known here.
void Deriver::needVersion(SourceRange R, llvm::StringRef What,
                          MegatronVersion Least) {
  const Located<MegatronVersion> &Has = S.Parallel.Megatron;
  if (*Has < Least)
    error(R, diag::MegatronTooOld, What, getSpelling(Least), getSpelling(*Has))
        .note(Has.Range, diag::ValueFromHere, "megatron", getSpelling(*Has));
}

void Deriver::checkReleases() {
  for (const NewKey &Key : NewKeys)
    if (const KeyRange Said = Key.Find(S))
      needVersion(*Said, Key.What, Key.Since);
  const MegatronVersion Has = *S.Parallel.Megatron;
  for (const RefusedPair &Pair : RefusedPairs)
    if (const KeyRange Said = Pair.Find(S);
        Said && Has >= Pair.Since && Has <= Pair.Until)
      error(*Said, diag::MegatronRefuses, Pair.What, Pair.Needs, Pair.Found)
          .note({}, diag::RefusedBy, "Megatron-LM", Pair.By);
  // Its other cross entropy reads a copy in fp32, as without the key.
  if (*S.Train.FusedLoss == FusedLossKind::TransformerEngine &&
      Has >= MegatronVersion::V0_18)
    error(S.Train.FusedLoss.Range, diag::MegatronTooNew, "fused_loss = te",
          "0.18.2", getSpelling(Has))
        .note({}, diag::RefusedBy, "Megatron-LM", Arguments);
}
