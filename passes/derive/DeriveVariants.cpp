// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that relates layers to each other: values besides the
// hidden state that layers pass to later ones, and weights that layers share.
// Layers of one block that differ in it become layers of blocks of their own.

#include "ir/model/Partition.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/LayerCutter.h"
#include "passes/derive/Deriver.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

using Names = std::set<std::string>;

/// Layers of a block of the job that are alike.
struct Variant {
  unsigned Of;          ///< the block
  Names Passes = {};    ///< values to the layer after
  bool IsEntry = false; ///< the first layer of its chunk
  Names Aliases = {};   ///< weights of another layer of the rank
  Names Copies = {};    ///< weights of which another stage has the first
  friend bool operator<(const Variant &A, const Variant &B) {
    return std::tie(A.Of, A.Passes, A.IsEntry, A.Aliases, A.Copies) <
           std::tie(B.Of, B.Passes, B.IsEntry, B.Aliases, B.Copies);
  }
};

/// All variants; ids of blocks in sequences of layers are their indices.
class Variants {
public:
  BlockId idOf(Variant V) {
    const auto [It, IsNew] =
        Known.try_emplace(V, static_cast<unsigned>(All.size()));
    if (IsNew)
      All.push_back(std::move(V));
    return BlockId(It->second);
  }
  const Variant &operator[](BlockId Id) const { return All[Id.Index]; }

private:
  std::vector<Variant> All;
  std::map<Variant, unsigned> Known;
};

/// Goes through layers from the last one on, with the values that are live:
/// those that later layers read.
class PassedValues {
public:
  PassedValues(const ModelSpec &M, Variants &All);

  /// Returns whether any layer reads what another one makes.
  bool exist() const;
  /// Returns the values that are live before a layer.
  Names before(unsigned Block, Names After) const;
  /// Replaces blocks by variants, in the layers before those seen so far.
  /// \p IsSent: another stage sends the values they receive.
  LayerSequence replace(const LayerSequence &Layers, bool IsSent);

  Names Live;

private:
  struct BlockUse {
    Names Reads, Writes;
  };
  LayerGroup period(llvm::ArrayRef<BlockRun> Runs);

  Variants &All;
  std::vector<BlockUse> Uses; ///< by block
};

/// Goes through layers from the first one on, with the shared weights that each
/// stage has so far.
class WeightsOfStages {
public:
  WeightsOfStages(const ModelSpec &M, Variants &All);

  bool exist() const { return AreThere; }
  /// Replaces variants by others, in the layers of \p Stage after those seen
  /// so far.
  LayerSequence replace(const LayerSequence &Layers, int64_t Stage);

  /// The stages that have weights, by name.
  std::map<std::string, std::set<int64_t>> Holders;

private:
  LayerGroup period(llvm::ArrayRef<BlockRun> Runs, int64_t Stage);
  BlockId next(Variant V, int64_t Stage);

  const ModelSpec &M;
  Variants &All;
  bool AreThere;
};

} // namespace

PassedValues::PassedValues(const ModelSpec &M, Variants &All) : All(All) {
  for (const BlockSpec &B : M.Blocks) {
    BlockUse &Of = Uses.emplace_back();
    for (const LayerUse *Use : {&B.Mixer, &B.Network}) {
      for (const llvm::StringRef Name : Use->reads())
        if (!Of.Writes.count(Name.str()))
          Of.Reads.insert(Name.str());
      for (const llvm::StringRef Name : Use->writes())
        Of.Writes.insert(Name.str());
    }
  }
}

bool PassedValues::exist() const {
  return llvm::any_of(Uses,
                      [](const BlockUse &Of) { return !Of.Reads.empty(); });
}

Names PassedValues::before(unsigned Block, Names After) const {
  for (const std::string &Name : Uses[Block].Writes)
    After.erase(Name);
  After.insert(Uses[Block].Reads.begin(), Uses[Block].Reads.end());
  return After;
}

/// Returns the layers of one period. What is live before a layer and the one
/// before it of the same block is the same: a layer adds and removes the same
/// names.
LayerGroup PassedValues::period(llvm::ArrayRef<BlockRun> Runs) {
  std::vector<BlockRun> Reversed;
  for (const BlockRun &R : llvm::reverse(Runs)) {
    const unsigned Block = R.Block.Index;
    const BlockId Last = All.idOf({Block, Live});
    Live = before(Block, std::move(Live));
    const BlockId Others = R.Count > 1 ? All.idOf({Block, Live}) : Last;
    if (Last == Others) {
      Reversed.push_back({Last, R.Count});
      continue;
    }
    Reversed.push_back({Last, 1});
    Reversed.push_back({Others, R.Count - 1});
  }
  LayerGroup Period;
  Period.Runs.assign(Reversed.rbegin(), Reversed.rend());
  return Period;
}

LayerSequence PassedValues::replace(const LayerSequence &Layers, bool IsSent) {
  std::vector<LayerGroup> Reversed;
  for (const LayerGroup &G : llvm::reverse(Layers)) {
    const Names After = Live;
    LayerGroup Last = period(G.Runs);
    if (Live == After)
      Last.Periods = G.Periods;
    Reversed.push_back(folded(Last));
    if (Live == After || G.Periods == 1)
      continue;
    LayerGroup Others = period(G.Runs);
    Others.Periods = G.Periods - 1;
    Reversed.push_back(folded(Others));
  }
  LayerSequence Out;
  for (LayerGroup &G : llvm::reverse(Reversed))
    append(Out, std::move(G));
  if (!IsSent || Live.empty() || Out.empty())
    return Out;
  LayerCutter Cut(Out);
  LayerSequence Chunk = Cut.take(1);
  Variant First = All[Chunk.front().Runs.front().Block];
  First.IsEntry = true;
  Chunk.front().Runs.front().Block = All.idOf(std::move(First));
  for (LayerGroup &G : Cut.take(layerCount(Out)))
    append(Chunk, std::move(G));
  return Chunk;
}

WeightsOfStages::WeightsOfStages(const ModelSpec &M, Variants &All)
    : M(M), All(All), AreThere(llvm::any_of(M.Blocks, [](const BlockSpec &B) {
        return !B.Shares.empty();
      })) {}

/// Returns the variant of the next layer of a stage.
BlockId WeightsOfStages::next(Variant V, int64_t Stage) {
  for (const std::string &Name : M.Blocks[V.Of].Shares) {
    std::set<int64_t> &Stages = Holders[Name];
    if (Stages.count(Stage))
      V.Aliases.insert(Name);
    else if (!Stages.empty())
      V.Copies.insert(Name);
    Stages.insert(Stage);
  }
  return All.idOf(std::move(V));
}

/// Returns the layers of one period. All layers of a run but the first are
/// alike.
LayerGroup WeightsOfStages::period(llvm::ArrayRef<BlockRun> Runs,
                                   int64_t Stage) {
  LayerGroup Period;
  for (const BlockRun &R : Runs) {
    const Variant V = All[R.Block];
    const BlockId First = next(V, Stage);
    const BlockId Others = R.Count > 1 ? next(V, Stage) : First;
    Period.Runs.push_back({First, First == Others ? R.Count : 1});
    if (First != Others)
      Period.Runs.push_back({Others, R.Count - 1});
  }
  return Period;
}

LayerSequence WeightsOfStages::replace(const LayerSequence &Layers,
                                       int64_t Stage) {
  LayerSequence Out;
  for (const LayerGroup &G : Layers) {
    LayerGroup First = period(G.Runs, Stage);
    LayerGroup Others = G.Periods > 1 ? period(G.Runs, Stage) : First;
    if (Others == First) {
      First.Periods = G.Periods;
      append(Out, folded(std::move(First)));
      continue;
    }
    Others.Periods = G.Periods - 1;
    append(Out, std::move(First));
    append(Out, folded(std::move(Others)));
  }
  return Out;
}

/// Returns the layers of each chunk, in order, and those that no chunk has.
static std::vector<LayerSequence> chunksOf(const Spec &S) {
  const LayerSequence All = sequenceOf(S.Model);
  LayerCutter Cut(All);
  std::vector<LayerSequence> Chunks;
  for (const int64_t Size : chunkLayers(S.Parallel, S.Model))
    Chunks.push_back(Cut.take(Size));
  Chunks.push_back(Cut.take(S.Model.layerCount()));
  return Chunks;
}

static std::vector<std::string> listOf(const Names &Of) {
  return {Of.begin(), Of.end()};
}

static std::string suffixOf(const Variant &V) {
  if (!V.Copies.empty())
    return "copy";
  if (!V.Aliases.empty())
    return "shared";
  if (V.IsEntry)
    return "entry";
  return V.Passes.empty() ? "last" : llvm::join(V.Passes, "_");
}

/// Reports what does not fit weights whose gradients are complete after the
/// backward pass of several layers.
void Deriver::checkSharedWeights() {
  const ParallelSpec &P = S.Parallel;
  if (*P.Zero > 1)
    error(P.Zero.Range, diag::SharedWeights,
          "zero = 0 or 1, not " + std::to_string(*P.Zero));
  if (getInfo(*P.Schedule).Placement == PlacementKind::Bidirectional)
    error(P.Schedule.Range, diag::SharedWeights,
          "a schedule with one copy of the model");
}

/// Returns whether the layers of each chunk are known; reports why not.
bool Deriver::areChunksKnown() {
  const Located<PartitionKind> &By = S.Parallel.Partition;
  if (exceeds(S.Parallel.Pp, 1) &&
      (*By == PartitionKind::Balanced || *By == PartitionKind::ModuleCount)) {
    error(By.Range, diag::PartitionOfVariants, getSpelling(*By));
    return false;
  }
  const int64_t Chunks = *S.Parallel.Pp * *S.Parallel.Vpp;
  if (Chunks <= MaxChunks)
    return true;
  error(S.Parallel.Pp.Range, diag::TooManyChunks, Chunks, MaxChunks);
  return false;
}

/// Sets what layers of a block receive and pass, and which weights they share.
static void setVariant(BlockSpec &B, const Variant &V,
                       const PassedValues &Passed,
                       const WeightsOfStages &Shared) {
  B.Receives = listOf(Passed.before(V.Of, V.Passes));
  B.Passes = listOf(V.Passes);
  B.IsEntry = V.IsEntry;
  B.Aliases = listOf(V.Aliases);
  B.Copies = listOf(V.Copies);
  B.Sums.clear();
  for (const std::string &Name : B.Shares)
    if (!V.Aliases.count(Name) && Shared.Holders.at(Name).size() > 1)
      B.Sums.push_back(Name);
}

/// Returns the layers of all chunks, with the blocks of their variants.
static LayerSequence joined(llvm::ArrayRef<LayerSequence> Chunks,
                            llvm::function_ref<unsigned(BlockId)> BlockOf) {
  LayerSequence Layers;
  for (size_t First = 0, Next; First < Chunks.size(); First = Next) {
    for (Next = First + 1;
         Next < Chunks.size() && Chunks[Next] == Chunks[First];)
      ++Next;
    LayerSequence Chunk;
    for (LayerGroup G : Chunks[First]) {
      for (BlockRun &R : G.Runs)
        R.Block = BlockId(BlockOf(R.Block));
      append(Chunk, std::move(G));
    }
    repeat(Layers, Chunk, static_cast<int64_t>(Next - First));
  }
  return Layers;
}

/// Makes blocks of layers that differ in what they receive, pass or share.
void Deriver::deriveVariants() {
  ModelSpec &M = S.Model;
  checkBranchLayers();
  Variants All;
  PassedValues Passed(M, All);
  WeightsOfStages Shared(M, All);
  if (Shared.exist())
    checkSharedWeights();
  if (Failed || (!Passed.exist() && !Shared.exist()) || !areChunksKnown())
    return;
  std::vector<LayerSequence> Chunks = chunksOf(S);
  Schedule Places;
  Places.Placement = getInfo(*S.Parallel.Schedule).Placement;
  Places.Stages = *S.Parallel.Pp;
  Places.Chunks = *S.Parallel.Vpp;
  auto StageOf = [&](size_t Part) {
    return Places.placeOf(static_cast<int64_t>(Part)).Stage;
  };
  for (size_t Part = Chunks.size(); Part-- > 0;) {
    const bool IsSent = Part > 0 && StageOf(Part) != StageOf(Part - 1);
    Chunks[Part] = Passed.replace(Chunks[Part], IsSent);
    if (IsSent)
      checkSent(Passed.Live);
  }
  if (Failed)
    return;
  assert(Passed.Live.empty() && "deriveLayers has not found who makes a value");
  for (const auto &[Part, C] : llvm::enumerate(Chunks))
    C = Shared.replace(C, StageOf(Part));
  for (const auto &[Name, Stages] : Shared.Holders)
    if (Stages.size() != 1 &&
        static_cast<int64_t>(Stages.size()) != Places.Stages)
      error(S.Parallel.Pp.Range, diag::SharedStages, Name, Stages.size(),
            Places.Stages);
  // The first variant of a block is the block itself.
  std::map<unsigned, unsigned> Blocks; // by variant
  std::set<unsigned> Taken;
  const size_t NumBlocks = M.Blocks.size();
  auto BlockOf = [&](BlockId Id) {
    const auto [It, IsNew] = Blocks.try_emplace(Id.Index);
    if (!IsNew)
      return It->second;
    const Variant &V = All[Id];
    const bool IsFirst = Taken.insert(V.Of).second;
    It->second = IsFirst ? V.Of : addVariant(V.Of, suffixOf(V));
    setVariant(M.Blocks[It->second], V, Passed, Shared);
    return It->second;
  };
  setLayers(M, joined(Chunks, BlockOf));
  // Layers of blocks that are not used.
  for (unsigned Block = 0; Block < NumBlocks; ++Block)
    if (!Taken.count(Block))
      M.Blocks[Block].Receives = listOf(Passed.before(Block, {}));
}
