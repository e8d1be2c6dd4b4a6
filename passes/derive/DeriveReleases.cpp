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

/// Key that Megatron-LM core has since a release.
struct NewKey {
  llvm::StringLiteral What;
  MegatronVersion Since;
  /// Returns where a job states it, if it does.
  std::optional<SourceRange> (*Find)(const Spec &S);
};

/// A combination that some releases refuse.
struct RefusedPair {
  llvm::StringLiteral What, Needs, Found, By;
  MegatronVersion Since, Until;
  std::optional<SourceRange> (*Find)(const Spec &S);
};

constexpr llvm::StringLiteral Arguments =
    "training/arguments.py, validate_args";
constexpr llvm::StringLiteral Training = "training/training.py, get_model";
constexpr llvm::StringLiteral Config =
    "transformer/transformer_config.py, __post_init__";
constexpr llvm::StringLiteral LayerOffset =
    "transformer/transformer_layer.py, get_transformer_layer_offset";

} // namespace

template <typename T> static SourceRange rangeOf(const Located<T> &Key) {
  return Key.Range;
}
/// Returns the range of `layout`.
static SourceRange rangeOf(const ParallelSpec &P) { return P.LayoutRange; }

/// Returns whether `recompute = selective` recomputes the module \p Name.
static bool recomputes(const TrainSpec &T, llvm::StringRef Name) {
  if (*T.Recompute != RecomputeKind::Selective)
    return false;
  return T.RecomputeModules.isPresent() ? llvm::is_contained(modulesOf(T), Name)
                                        : Name == "core_attn";
}

/// Returns whether layers have experts: graphs are then attention and routers.
static bool hasExperts(const ModelSpec &M) {
  return llvm::any_of(M.Layers, [&](const LayerRun &R) {
    return llvm::any_of(R.Items, [&](const LayerRun::Item &I) {
      return M.Blocks[I.Block].Network.find<int64_t>("experts") != nullptr;
    });
  });
}

/// Returns whether the weights are in one of the scaled types of 8 bits.
static bool hasScaledWeights(const TrainSpec &T) {
  const TypeKind Type = *T.WeightPrecision;
  return Type == TypeKind::FP8 || Type == TypeKind::FP8Block ||
         Type == TypeKind::MXFP8;
}

/// Returns whether modules inside CUDA graphs are recomputed.
static bool recomputesInGraphs(const Spec &S) {
  return recomputes(S.Train, "core_attn") ||
         (recomputes(S.Train, "mlp") && !hasExperts(S.Model));
}

/// Returns whether the first and the last stage have numbers of layers of their
/// own and are the only stages: some releases then divide by 0 stages.
static bool haveEndsOfTwo(const ParallelSpec &P) {
  return P.FirstStageLayers.isPresent() && P.LastStageLayers.isPresent() &&
         *P.Pp == 2;
}

#define FIND(KEY, HOLDS)                                                       \
  [](const Spec &S) {                                                          \
    const auto &Key = S.KEY;                                                   \
    return (HOLDS) ? std::optional(rangeOf(Key)) : std::nullopt;               \
  }
static constexpr NewKey NewKeys[] = {
#define NEW_KEY(WHAT, SINCE, KEY, HOLDS)                                       \
  {WHAT, MegatronVersion::SINCE, FIND(KEY, HOLDS)},
#include "passes/derive/Releases.def"
};
static constexpr RefusedPair RefusedPairs[] = {
#define REFUSED(WHAT, NEEDS, FOUND, BY, SINCE, UNTIL, KEY, HOLDS)              \
  {WHAT,                                                                       \
   NEEDS,                                                                      \
   FOUND,                                                                      \
   BY,                                                                         \
   MegatronVersion::SINCE,                                                     \
   MegatronVersion::UNTIL,                                                     \
   FIND(KEY, HOLDS)},
#include "passes/derive/Releases.def"
};
#undef FIND

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
    if (const auto Said = Key.Find(S))
      needVersion(*Said, Key.What, Key.Since);
  const MegatronVersion Has = *S.Parallel.Megatron;
  for (const RefusedPair &Pair : RefusedPairs)
    if (const auto Said = Pair.Find(S);
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
