// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that concerns layers which keep less on a rank for their
// backward pass, being computed again or offloaded. If only the first layers of
// each chunk are, they become layers of blocks of their own.

#include "ir/model/Partition.h"
#include "ir/model/SpecKeys.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/LayerCutter.h"
#include "passes/Recomputation.h"
#include "passes/derive/Deriver.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns whether a layer of the model has a module of that name.
bool Deriver::hasModule(llvm::StringRef Module) {
  return Bodies.empty() || llvm::any_of(Bodies, [&](const Block &B) {
           return llvm::any_of(B.Modules, [&](const ir::Module &M) {
             return M.Name == Module;
           });
         });
}

/// Checks the modules that selective recomputation names.
void Deriver::checkModules() {
  TrainSpec &T = S.Train;
  const SourceRange At = T.RecomputeModules.Range;
  if (!findRecomputed(
          [](RecomputeKind K) { return K == RecomputeKind::Selective; })) {
    error(At, diag::KeyWithoutEffect, "recompute_modules",
          "without `recompute = selective`");
    T.RecomputeModules = {};
    return;
  }
  const auto Known = recomputeModules(S);
  for (llvm::StringRef Module : modulesOf(T))
    if (!llvm::is_contained(Known, Module))
      error(At, diag::RecomputeModule, Module,
            "not a module of `recompute_modules`")
          .note({}, diag::RecomputeModules, llvm::join(Known, ", "));
    else if (!hasModule(Module))
      error(At, diag::RecomputeModule, Module,
            "not in any layer of this model");
  if (modulesOf(T).empty())
    error(At, diag::RecomputeModule, *T.RecomputeModules, "not a module");
}

/// Returns whether Megatron-LM's own linear layers differ from Transformer
/// Engine's: where experts add a bias to their results, and in down-projections
/// of latent attention, which ranks of tp gather.
static bool hasLocalLayers(llvm::ArrayRef<Block> Layers) {
  return Layers.empty() || llvm::any_of(Layers, [](const Block &B) {
           return llvm::any_of(B.Values, [](const Value &V) {
             const TensorType &T = V.Type;
             return V.Kind == ValueKind::Param &&
                    (T.indexOf(DimKind::Projected) >= 0 ||
                     (T.Dims.size() == 2 && T.indexOf(DimKind::Expert) >= 0));
           });
         });
}

/// Megatron-LM, transformer/transformer_config.py, __post_init__.
void Deriver::checkRecompute() {
  TrainSpec &T = S.Train;
  if (T.RecomputeModules.isPresent())
    checkModules();
  if (*T.TransformerImpl == TransformerImplKind::Local &&
      !T.RecomputeModules.isPresent() && !hasLocalLayers(Bodies) &&
      !S.Parallel.OverlapGradReduce.is(true)) // then it orders buckets
    error(T.TransformerImpl.Range, diag::KeyWithoutEffect, "transformer_impl",
          "without `recompute_modules`, `overlap_grad_reduce`, biases of "
          "experts, or latent attention with tp > 1");
  const auto IsFull = [](RecomputeKind K) { return K == RecomputeKind::Full; };
  Located<bool> &SharesInput = T.DistributeSavedActivations;
  if (SharesInput.is(true) &&
      (!findRecomputed(IsFull) || !exceeds(S.Parallel.Tp, 1) ||
       *S.Parallel.SequenceParallel)) {
    error(SharesInput.Range, diag::KeyWithoutEffect,
          "distribute_saved_activations",
          "without `recompute = full`, tp above 1 and "
          "`sequence_parallel = false`");
    SharesInput = {};
  }
  if (T.RecomputeUnit.isPresent() &&
      (!findRecomputed(IsFull) || T.RecomputeNumLayers.isPresent())) {
    error(T.RecomputeUnit.Range, diag::KeyWithoutEffect, "recompute_unit",
          "without `recompute = full`, or with `recompute_num_layers`");
    T.RecomputeUnit = {};
  }
  Located<int64_t> &Layers = T.RecomputeNumLayers;
  if (Layers.isPresent() && *T.Recompute != RecomputeKind::Full) {
    error(Layers.Range, diag::KeyWithoutEffect, "recompute_num_layers",
          "without `recompute = full`");
    Layers = {};
  }
  checkChunks("recompute_num_layers", Layers);
}

/// Megatron-LM, transformer/transformer_config.py, __post_init__.
void Deriver::checkOffload() {
  TrainSpec &T = S.Train;
  Located<int64_t> &Layers = T.OffloadNumLayers;
  if (Layers.isPresent() && !*T.OffloadActivations) {
    error(Layers.Range, diag::KeyWithoutEffect, "offload_num_layers",
          "without `offload_activations = true`");
    Layers = {};
  }
  auto Refuse = [&](SourceRange At, const std::string &Needs) {
    return error(At, diag::OffloadActivations, Needs)
        .note({}, diag::RefusedBy, "Megatron-LM",
              "transformer/transformer_config.py, __post_init__");
  };
  checkChunks("offload_num_layers", Layers);
  const int64_t All = S.Model.layerCount();
  if (Layers.isPresent() && *Layers >= All)
    Refuse(Layers.Range, "offload_num_layers below the model's " +
                             std::to_string(All) + " layers, not " +
                             std::to_string(*Layers));
  auto Offloaded = llvm::find_if(
      S.Model.Blocks, [&](const BlockSpec &B) { return *S.offloadOf(B); });
  if (Offloaded == S.Model.Blocks.end())
    return;
  const SourceRange At = S.offloadOf(*Offloaded).Range;
  if (exceeds(S.Parallel.Pp, 1))
    Refuse(At, "pp = 1, not " + std::to_string(*S.Parallel.Pp))
        .noteValue("pp", S.Parallel.Pp);
  if (const BlockSpec *B = findRecomputed(
          [](RecomputeKind K) { return K != RecomputeKind::None; }))
    Refuse(At, "`recompute = none`")
        .note(S.recomputeOf(*B).Range, diag::ValueFromHere, "recompute",
              getSpelling(*S.recomputeOf(*B)));
}

/// Refuses a number of layers of a chunk, \p Layers, if it can't be checked.
void Deriver::checkChunks(llvm::StringRef Key, const Located<int64_t> &Layers) {
  if (Layers.isPresent() && S.Model.towerLayers() > 0)
    error(Layers.Range, diag::LayersOfTower, Key);
  const Located<PartitionKind> &By = S.Parallel.Partition;
  if (Layers.isPresent() &&
      (*By == PartitionKind::Balanced || *By == PartitionKind::ModuleCount))
    error(Layers.Range, diag::LayersOfChunks, Key, getSpelling(*By))
        .note(By.Range, diag::ValueFromHere, "partition", getSpelling(*By));
}

namespace {

/// Chunks with the same layers, in sequence.
struct EqualChunks {
  LayerSequence First, Rest;
  int64_t Count;
};

} // namespace

/// Cuts the layers into chunks, and each behind its first \p First layers.
static std::vector<EqualChunks> cutChunks(const Spec &S, int64_t First) {
  const LayerSequence All = sequenceOf(S.Model);
  LayerCutter Cut(All);
  std::vector<EqualChunks> Out;
  auto Add = [&](LayerSequence Head, LayerSequence Tail) {
    if (!Out.empty() && Out.back().First == Head && Out.back().Rest == Tail)
      ++Out.back().Count;
    else
      Out.push_back({std::move(Head), std::move(Tail), 1});
  };
  for (const int64_t Size : chunkLayers(S.Parallel, S.Model)) {
    LayerSequence Head = Cut.take(std::min(First, Size));
    Add(std::move(Head), Cut.take(std::max<int64_t>(Size - First, 0)));
  }
  // An indivisible number of layers may be allowed.
  if (LayerSequence Left = Cut.take(S.Model.layerCount()); !Left.empty())
    Add({}, std::move(Left));
  return Out;
}

/// A name that no block has yet.
static std::string nameOf(const ModelSpec &M, llvm::StringRef Of,
                          llvm::StringRef Suffix) {
  std::string Name = (Of + "_" + Suffix).str();
  while (M.findBlock(Name))
    Name += '_';
  return Name;
}

/// Adds a block like \p Of, with the same numbers.
unsigned Deriver::addVariant(unsigned Of, llvm::StringRef Suffix) {
  ModelSpec &M = S.Model;
  const auto New = static_cast<unsigned>(M.Blocks.size());
  BlockSpec B = M.Blocks[Of];
  B.Name = nameOf(M, B.Name, Suffix);
  M.Blocks.push_back(std::move(B));
  forEachNumber(S, [&](Key K, const Located<int64_t> &F) {
    if (K.Block != New || !F.isPresent())
      return;
    const Located<int64_t> &From = *findField(S, {K.Id, Of});
    Program.Sizes.define(K, this->of(From));
    findField(S, K)->derive(From.carried(), From.Range);
  });
  return New;
}

/// Blocks that say for themselves what their layers do are not touched, so that
/// it doesn't matter if this was done before.
void Deriver::splitChunks(const FirstLayers &First) {
  ModelSpec &M = S.Model;
  const std::vector<EqualChunks> Cut = cutChunks(S, *First.Count);
  std::vector<bool> IsFirst(M.Blocks.size()), IsRest(M.Blocks.size());
  auto Mark = [](const LayerSequence &Of, std::vector<bool> &Found) {
    for (const LayerGroup &G : Of)
      for (const BlockRun &R : G.Runs)
        Found[R.Block.Index] = true;
  };
  for (const EqualChunks &C : Cut) {
    Mark(C.First, IsFirst);
    Mark(C.Rest, IsRest);
  }
  std::vector<unsigned> Variant; // by block: that of first layers
  for (unsigned I = 0; I < IsFirst.size(); ++I) {
    Variant.push_back(I);
    if (First.IsStated(M.Blocks[I]))
      continue;
    if (IsFirst[I] && IsRest[I]) {
      Variant[I] = addVariant(I, First.Suffix);
      First.Set(M.Blocks[Variant[I]], true, First.Count.Range);
    }
    First.Set(M.Blocks[I], !IsRest[I], First.Count.Range);
  }
  if (M.Blocks.size() == IsFirst.size())
    return; // no block has both
  LayerSequence Layers;
  for (const EqualChunks &C : Cut) {
    LayerSequence Chunk;
    for (LayerGroup G : C.First) {
      for (BlockRun &R : G.Runs)
        R.Block = BlockId(Variant[R.Block.Index]);
      append(Chunk, std::move(G));
    }
    for (const LayerGroup &G : C.Rest)
      append(Chunk, G);
    repeat(Layers, Chunk, C.Count);
  }
  setLayers(M, Layers);
}

/// Megatron-LM, recompute.py, checkpointed_forward, of the method `block`.
void Deriver::splitChunks() {
  const TrainSpec &T = S.Train;
  if (!T.RecomputeNumLayers.isPresent() && !T.OffloadNumLayers.isPresent())
    return;
  const int64_t Chunks = *S.Parallel.Pp * *S.Parallel.Vpp;
  if (Chunks > MaxChunks) {
    error(S.Parallel.Pp.Range, diag::TooManyChunks, Chunks, MaxChunks);
    return;
  }
  if (T.RecomputeNumLayers.isPresent())
    splitChunks({T.RecomputeNumLayers, "recomputed",
                 [](const BlockSpec &B) { return B.Recompute.isPresent(); },
                 [](BlockSpec &B, bool IsFirst, SourceRange At) {
                   B.Recompute.derive(
                       IsFirst ? RecomputeKind::Full : RecomputeKind::None, At);
                 }});
  if (T.OffloadNumLayers.isPresent())
    splitChunks(
        {T.OffloadNumLayers, "offloaded",
         [](const BlockSpec &B) { return B.OffloadActivations.isPresent(); },
         [](BlockSpec &B, bool IsFirst, SourceRange At) {
           B.OffloadActivations.derive(IsFirst, At);
         }});
}
