// SPDX-License-Identifier: Apache-2.0
#include "analysis/Analyses.h"
#include "analysis/LayerCounts.h"
#include "analysis/Overlap.h"
#include "ir/model/Shares.h"
#include "passes/BlockBuilder.h"
#include "passes/GradientBuffers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Adds a parameter. If it is in an earlier layer, it is the new first one.
void BucketMaker::fill(const BucketParam &With, int64_t Layer) {
  if (Layer < Open.Layer || With.Use < FirstUse) {
    Open.Layer = Layer;
    Open.Param = With.Number;
    FirstUse = With.Use;
  }
  Filled += With.Taken;
}

void BucketMaker::close() {
  Open.Elements = static_cast<int64_t>(llvm::alignTo(
      static_cast<uint64_t>(Filled), static_cast<uint64_t>(Step)));
  Closed.push_back(Open);
  Open.Layer = INT64_MAX;
  Filled = 0;
}

/// Moves buckets that do not recur to the list.
void BucketMaker::flush() {
  if (Closed.empty())
    return;
  if (List.empty() || List.back().Times != 1)
    List.emplace_back();
  List.back().Each.append(Closed.begin(), Closed.end());
  Closed.clear();
}

void BucketMaker::add(llvm::ArrayRef<BucketParam> Params, int64_t Count,
                      int64_t Each) {
  const int64_t Top = Layers - 1;
  Layers -= Count * Each;
  int64_t OfLayer = 0;
  for (const BucketParam &P : Params)
    OfLayer += P.Taken;
  if (OfLayer == 0)
    return;
  flush();
  /// Where a bucket was closed: by the parameter, the layer and the number of
  /// buckets until then.
  llvm::DenseMap<size_t, std::pair<int64_t, size_t>> Ends;
  bool Recurs = false;
  for (int64_t Layer = 0; Layer < Count; ++Layer) {
    // Layers that close no bucket are equal to one layer.
    const int64_t Whole =
        std::min((Least - Filled) / OfLayer - 1, Count - 1 - Layer);
    if (Whole > 0) {
      Filled += Whole * OfLayer;
      Layer += Whole;
    }
    for (const auto &[Index, P] : llvm::enumerate(Params)) {
      const int64_t End = Filled + P.Elements;
      fill(P, Top - Layer * Each - P.Layer);
      if (End < Least)
        continue;
      close();
      const auto [It, IsNew] =
          Ends.try_emplace(Index, std::pair(Layer, Closed.size()));
      const auto [Before, Number] = It->second;
      const int64_t Period = Layer - Before,
                    Times = IsNew || Recurs ? 0 : (Count - 1 - Layer) / Period;
      if (Times == 0)
        continue;
      MessagePeriod Of{
          Times + 1, Period * Each, {Closed.begin() + Number, Closed.end()}};
      Closed.resize(Number);
      flush();
      List.push_back(std::move(Of));
      Layer += Times * Period;
      Recurs = true;
    }
  }
  flush();
}

MessageList BucketMaker::finish() && {
  if (Filled > 0)
    close();
  flush();
  return std::move(List);
}

/// The module of a parameter, by its last name, and what is before it.
static std::pair<llvm::StringRef, llvm::StringRef>
moduleOf(const Block &B, const Value *Gradient) {
  const auto [Module, Param] =
      llvm::StringRef(B.Values[Gradient->GradientOf].Name).rsplit('.');
  const auto [Front, Last] = Module.rsplit('.');
  return Last.empty() ? std::pair(Last, Front) : std::pair(Front, Last);
}

/// The place of a module of attention: the output projection is made by the
/// base class, before the others (attention.py, Attention.__init__). Without
/// Transformer Engine latent attention makes its norms last, and its layers
/// have the norm before attention as a module of its own.
static std::optional<unsigned>
placeInAttention(const Program &P, llvm::StringRef Module, bool IsLatent) {
  enum { Norm, Output, Inputs, Norms };
  const bool IsLocal =
      *P.Spec.Train.TransformerImpl == TransformerImplKind::Local;
  if (Module == "input_layernorm")
    return IsLocal || IsLatent ? Norm : Inputs;
  if (Module == "linear_proj")
    return Output;
  if (Module == "q_layernorm" || Module == "kv_layernorm")
    return IsLocal && IsLatent ? Norms : Inputs;
  if (Module == "k_layernorm" || Module == "linear_qkv" ||
      Module.starts_with("linear_q_") || Module.starts_with("linear_kv_"))
    return Inputs;
  return std::nullopt;
}

void foretrace::sortByModule(const Program &P, const Block &B,
                             std::vector<const Value *> &Gradients) {
  llvm::sort(Gradients, [](const Value *X, const Value *Y) {
    return X->GradientOf.Index < Y->GradientOf.Index;
  });
  const bool IsLatent = llvm::any_of(Gradients, [&](const Value *G) {
    return moduleOf(B, G).second == "linear_kv_up_proj";
  });
  auto PlaceOf = [&](const Value *G) {
    return placeInAttention(P, moduleOf(B, G).second, IsLatent);
  };
  for (auto Begin = Gradients.begin(); Begin != Gradients.end();) {
    auto End = Begin;
    while (End != Gradients.end() && PlaceOf(*End) &&
           moduleOf(B, *End).first == moduleOf(B, *Begin).first)
      ++End;
    std::stable_sort(Begin, End, [&](const Value *X, const Value *Y) {
      return *PlaceOf(X) < *PlaceOf(Y);
    });
    Begin = End == Begin ? End + 1 : End;
  }
}

/// Elements of all parameters of a rank of \p S.
static int64_t parametersOf(const Program &P, const Stage &S) {
  Elements Sum;
  for (const auto &[Index, Count] : layersByBlock(S))
    Sum += P.Sizes.value(P.Blocks[BlockId(Index)].Totals.Parameters) * Count;
  return Sum.isOverflow() ? INT64_MAX : Sum.value();
}

std::optional<int64_t> foretrace::bucketSizeOf(const Program &P,
                                               const Stage &S) {
  const ParallelSpec &Par = P.Spec.Parallel;
  if (!isOfMegatron(Par) || !Par.OverlapGradReduce.is(true) || *Par.Zero > 1 ||
      Par.OverlapParamGatherWithOptimizerStep.is(true) || S.First != 0 ||
      getInfo(*Par.Schedule).Placement == PlacementKind::Bidirectional)
    return std::nullopt;
  if (Par.DdpBucketSize.isPresent())
    return *Par.DdpBucketSize;
  if (Par.DdpNumBuckets.isPresent())
    return parametersOf(P, S) / *Par.DdpNumBuckets;
  // Since core 0.12 training.py sets it.
  const int64_t Cp = *Par.Megatron >= MegatronVersion::V0_12 ? *Par.Cp : 1;
  return std::max(LeastOfBucket, OfBucketPerRank * *Par.Dp * Cp);
}

namespace {
/// A parameter of a block: its number among them, and the op that uses it
/// first.
struct Use {
  int64_t Number;
  size_t Op;
};
} // namespace

static llvm::DenseMap<unsigned, Use> usesOf(const Block &B) {
  llvm::DenseMap<unsigned, Use> Uses;
  for (const auto &[Index, V] : llvm::enumerate(B.Values))
    if (V.Kind == ValueKind::Param)
      Uses.insert({static_cast<unsigned>(Index),
                   {static_cast<int64_t>(Uses.size()), B.Ops.size()}});
  for (const auto &[Index, O] : llvm::enumerate(B.Ops))
    for (const ValueId V : O.Operands)
      if (const auto It = Uses.find(V.Index); It != Uses.end())
        It->second.Op = std::min(It->second.Op, Index);
  return Uses;
}

/// The parameters of a layer in these parts of a buffer, the last one first.
/// Experts have theirs in turns, or with Transformer Engine those of one name
/// after each other (moe/experts.py, SequentialMLP, TEGroupedMLP).
llvm::SmallVector<BucketParam, 32>
GradientBuffers::paramsOf(const Block &B, Parts Of, TiedHead At) const {
  std::vector<const Value *> Gradients = gradientsOf(B, At);
  sortByModule(P, B, Gradients);
  llvm::SmallVector<BucketParam, 32> Params;
  const bool InTurns =
      *P.Spec.Train.TransformerImpl == TransformerImplKind::Local;
  constexpr int64_t MostExperts = 1 << 16; // more are one parameter
  auto ExpertsOf = [&](const Value *G) {
    const int I = G->Type.indexOf(DimKind::Expert);
    const int64_t Experts =
        I < 0 ? 1
              : extentOnRank(P, G->Type, G->Layout, static_cast<size_t>(I))
                    .value();
    return Experts <= MostExperts ? Experts : 1;
  };
  const llvm::DenseMap<unsigned, Use> Uses = usesOf(B);
  for (auto Begin = Gradients.begin(); Begin != Gradients.end();) {
    const int64_t Experts = ExpertsOf(*Begin);
    auto End = Begin + 1;
    while (InTurns && Experts > 1 && End != Gradients.end() &&
           ExpertsOf(*End) == Experts)
      ++End;
    for (int64_t I = 0; I < Experts; ++I)
      for (const Value *G : llvm::make_range(Begin, End))
        if (llvm::is_contained(Of, partOf(B, *G)))
          Params.push_back({unsharedElements(P, *G).value() / Experts,
                            elementsOf(*G).value() / Experts,
                            Uses.lookup(G->GradientOf.Index).Number,
                            Uses.lookup(G->GradientOf.Index).Op, G});
    Begin = End;
  }
  std::reverse(Params.begin(), Params.end());
  return Params;
}

/// Cuts a buffer of these parts into messages, each of which is filled.
void GradientBuffers::cut(GradientBuffer &B, Parts Of, const Chunk &C,
                          TiedHead At) const {
  const bool IsSent = !B.Group.empty() || HasReplicas;
  if (!C.BucketSize || B.empty() || !IsSent || !B.Count.hasValue())
    return fill(B, Of, C, At);
  const bool IsFilled = *P.Spec.Parallel.Zero == 1;
  BucketMaker Make(*C.BucketSize, IsFilled ? step(B).value() : 1,
                   layerCount(*C.Sequence));
  for (const LayerGroup &G : llvm::reverse(*C.Sequence)) {
    llvm::SmallVector<BucketParam, 32> Period;
    int64_t Layers = 0;
    for (const BlockRun &R : llvm::reverse(G.Runs)) {
      auto Params = paramsOf(P.Blocks[R.Block], Of, At);
      if (G.Periods == 1) {
        Make.add(Params, R.Count, 1);
        continue;
      }
      for (int64_t I = 0; I < R.Count; ++I, ++Layers)
        for (BucketParam Param : Params) {
          Param.Layer = Layers;
          Period.push_back(Param);
        }
    }
    if (G.Periods > 1)
      Make.add(Period, G.Periods, Layers);
  }
  B.Messages = std::move(Make).finish();
  if (messageCount(B.Messages) < 2)
    return fill(B, Of, C, At);
  if (IsFilled)
    B.Count += numberOf(P, *messageSum(B.Messages) - B.Count.value());
}

MessageList foretrace::joined(const GradientBucket &B) {
  if (B.Scaled.empty())
    return B.Plain.Messages;
  MessageList All = B.Scaled.Messages;
  if (All.empty())
    return All;
  MessagePeriod Last = All.back();
  if (Last.Times > 1) {
    for (BucketMessage &M : Last.Each)
      M.Layer -= (Last.Times - 1) * Last.Layers;
    --All.back().Times;
    Last.Times = 1;
    All.push_back(std::move(Last));
  }
  BucketMessage &Joined = All.back().Each.back();
  Joined.Elements += B.Plain.Count.value();
  if (B.Plain.Messages.empty())
    return All;
  // The first parameter of the chunk is in a plain type.
  const MessagePeriod &Plain = B.Plain.Messages.back();
  const BucketMessage &First = Plain.Each.back();
  Joined.Layer = First.Layer - (Plain.Times - 1) * Plain.Layers;
  Joined.Param = First.Param;
  return All;
}
