// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that concerns values besides the hidden state: outputs
// of layers that are inputs of later ones. A layer passes those that a layer
// after it reads before another one makes them anew. Layers of one block that
// pass different values become layers of blocks of their own.

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

/// A use of a block, which differs from others in what it passes.
struct Variant {
  unsigned Of;  ///< the block of the job
  Names Passes; ///< to the layer after
  bool IsEntry; ///< whether it is the first of its chunk
  friend bool operator<(const Variant &A, const Variant &B) {
    return std::tie(A.Of, A.Passes, A.IsEntry) <
           std::tie(B.Of, B.Passes, B.IsEntry);
  }
};

/// Goes through layers from the last one on, with the values that are live:
/// those that later layers read.
class LivenessOfLayers {
public:
  explicit LivenessOfLayers(const ModelSpec &M);

  /// Whether any layer reads what another one makes.
  bool areValuesPassed() const;
  /// Returns the values that are live before a layer.
  Names before(unsigned Block, Names After) const;
  /// Replaces the layers before those that it has seen.
  LayerSequence replace(const LayerSequence &Layers, bool AreChunk);

  Names Live;
  std::vector<Variant> Variants; ///< by BlockRun::Block of the result

private:
  struct BlockUse {
    Names Reads, Writes;
  };
  BlockId variant(Variant V);
  LayerGroup period(llvm::ArrayRef<BlockRun> Runs);

  std::vector<BlockUse> Uses; ///< by block
  std::map<Variant, unsigned> Known;
};

} // namespace

LivenessOfLayers::LivenessOfLayers(const ModelSpec &M) {
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

bool LivenessOfLayers::areValuesPassed() const {
  return llvm::any_of(Uses,
                      [](const BlockUse &Of) { return !Of.Reads.empty(); });
}

Names LivenessOfLayers::before(unsigned Block, Names After) const {
  for (const std::string &Name : Uses[Block].Writes)
    After.erase(Name);
  After.insert(Uses[Block].Reads.begin(), Uses[Block].Reads.end());
  return After;
}

BlockId LivenessOfLayers::variant(Variant V) {
  const auto [It, IsNew] =
      Known.try_emplace(V, static_cast<unsigned>(Variants.size()));
  if (IsNew)
    Variants.push_back(std::move(V));
  return BlockId(It->second);
}

/// The layers of one period. What is live before a layer and the one before it
/// of the same block is the same: a layer adds and removes the same names.
LayerGroup LivenessOfLayers::period(llvm::ArrayRef<BlockRun> Runs) {
  std::vector<BlockRun> Reversed;
  for (const BlockRun &R : llvm::reverse(Runs)) {
    const unsigned Block = R.Block.Index;
    const BlockId Last = variant({Block, Live, false});
    Live = before(Block, std::move(Live));
    const BlockId Others = R.Count > 1 ? variant({Block, Live, false}) : Last;
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

LayerSequence LivenessOfLayers::replace(const LayerSequence &Layers,
                                        bool AreChunk) {
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
  if (!AreChunk || Live.empty() || Out.empty())
    return Out;
  LayerCutter Cut(Out);
  LayerSequence Chunk = Cut.take(1);
  Variant First = Variants[Chunk.front().Runs.front().Block.Index];
  First.IsEntry = true;
  Chunk.front().Runs.front().Block = variant(std::move(First));
  for (LayerGroup &G : Cut.take(layerCount(Out)))
    append(Chunk, std::move(G));
  return Chunk;
}

/// The layers of each chunk, in order, and those that no chunk has.
static std::vector<LayerSequence> chunksOf(const Spec &S) {
  const LayerSequence All = sequenceOf(S.Model);
  LayerCutter Cut(All);
  std::vector<LayerSequence> Chunks;
  for (const int64_t Size : chunkLayers(S.Parallel, S.Model.layerCount()))
    Chunks.push_back(Cut.take(Size));
  Chunks.push_back(Cut.take(S.Model.layerCount()));
  return Chunks;
}

/// Branches have a chunk of their own, to which only the hidden state goes.
void Deriver::checkBranchValues() {
  const ModelSpec &M = S.Model;
  if (!M.Branch)
    return;
  for (const LayerRun &R : M.Branch->Layers)
    for (const LayerRun::Item &I : R.Items)
      for (const LayerUse *Use :
           {&M.Blocks[I.Block].Mixer, &M.Blocks[I.Block].Network})
        if (!Use->reads().empty() || !Use->writes().empty()) {
          error(M.Branch->LayersRange, diag::BranchOfPassed, Use->Kind);
          return;
        }
}

/// Sets what layers receive and pass, and which ones are first in a chunk.
void Deriver::passValues() {
  ModelSpec &M = S.Model;
  checkBranchValues();
  LivenessOfLayers Of(M);
  if (!Of.areValuesPassed())
    return;
  const Located<PartitionKind> &By = S.Parallel.Partition;
  if (exceeds(S.Parallel.Pp, 1) &&
      (*By == PartitionKind::Balanced || *By == PartitionKind::ModuleCount)) {
    error(By.Range, diag::PartitionOfPassed, getSpelling(*By));
    return;
  }
  if (*S.Parallel.Pp * *S.Parallel.Vpp > MaxChunks) {
    error(S.Parallel.Pp.Range, diag::TooManyChunks,
          *S.Parallel.Pp * *S.Parallel.Vpp, MaxChunks);
    return;
  }
  std::vector<LayerSequence> Chunks = chunksOf(S);
  for (LayerSequence &C : llvm::reverse(Chunks))
    C = Of.replace(C, &C != &Chunks.front());
  assert(Of.Live.empty() && "deriveLayers has not found who makes a value");
  // The first variant of a block is the block itself.
  std::map<unsigned, unsigned> Blocks; // by variant
  std::set<unsigned> Taken;
  const size_t NumBlocks = M.Blocks.size();
  auto BlockOf = [&](unsigned Index) {
    const auto [It, IsNew] = Blocks.try_emplace(Index);
    if (!IsNew)
      return It->second;
    const Variant &V = Of.Variants[Index];
    const std::string Suffix = V.IsEntry          ? "entry"
                               : V.Passes.empty() ? "last"
                                                  : llvm::join(V.Passes, "_");
    const bool IsFirst = Taken.insert(V.Of).second;
    It->second = IsFirst ? V.Of : addVariant(V.Of, Suffix);
    BlockSpec &B = M.Blocks[It->second];
    const Names Received = Of.before(V.Of, V.Passes);
    B.Receives.assign(Received.begin(), Received.end());
    B.Passes.assign(V.Passes.begin(), V.Passes.end());
    B.IsEntry = V.IsEntry;
    return It->second;
  };
  LayerSequence Layers;
  for (size_t First = 0, Next; First < Chunks.size(); First = Next) {
    for (Next = First + 1;
         Next < Chunks.size() && Chunks[Next] == Chunks[First];)
      ++Next;
    LayerSequence Chunk;
    for (LayerGroup G : Chunks[First]) {
      for (BlockRun &R : G.Runs)
        R.Block = BlockId(BlockOf(R.Block.Index));
      append(Chunk, std::move(G));
    }
    repeat(Layers, Chunk, static_cast<int64_t>(Next - First));
  }
  setLayers(M, Layers);
  // Layers of blocks that are not used.
  for (unsigned Block = 0; Block < NumBlocks; ++Block)
    if (!Taken.count(Block)) {
      const Names Received = Of.before(Block, {});
      M.Blocks[Block].Receives.assign(Received.begin(), Received.end());
    }
}
