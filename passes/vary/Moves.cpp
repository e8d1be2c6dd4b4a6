// SPDX-License-Identifier: Apache-2.0
//
// The table of moves, and the functions that rows of Moves.def name. Those of
// NUMBER find the members of a spec that hold a number and the values of it
// that may be legal; those of WAYS change several keys, or one that is no
// number.
#include "passes/vary/Moves.h"
#include "ir/model/Routing.h"
#include "ir/model/Spellings.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::vary;

/// One end of the pipeline, if \p At states it.
template <KeyNumber ParallelSpec::*Member>
static std::vector<KeyNumber *> findEnd(Spec &S, SourceRange At) {
  KeyNumber &Key = S.Parallel.*Member;
  if (!Key.isPresent() || Key.Range.start() != At.start())
    return {};
  return {&Key};
}

// Keys of layers.
static constexpr char Heads[] = "heads", KvHeads[] = "kv_heads",
                      HeadDim[] = "head_dim", RopeDim[] = "rope_dim";

/// A key of a layer that \p At states, or that follows from the first one of
/// the layer, which \p At states.
template <const char *Name>
static std::vector<KeyNumber *> findOfLayer(Spec &S, SourceRange At) {
  std::vector<KeyNumber *> Found;
  for (BlockSpec &B : S.Model.Blocks)
    for (LayerUse *Use : {&B.Mixer, &B.Network}) {
      auto *Key = Use->find<int64_t>(Name);
      if (!Key)
        continue;
      const auto *First = Use->find<int64_t>(Use->Keys.front().Name);
      const SourceRange Place =
          Key->isPresent() || !First ? Key->Range : First->Range;
      if (Place.start() == At.start())
        Found.push_back(Key);
    }
  return Found;
}

/// Divisors of \p Total that are small or that a small number leads to:
/// all, up to 2^24.
static Numbers divisorsOf(int64_t Total) {
  constexpr int64_t MaxSmall = 1 << 12;
  Numbers Found;
  for (int64_t D = 1; D <= MaxSmall && D <= Total / D; ++D)
    if (Total % D == 0)
      Found.append({D, Total / D});
  return Found;
}

/// The multiples of \p Unit around \p Value.
static Numbers multiplesOf(int64_t Unit, int64_t Value) {
  constexpr int64_t MaxSteps = 16;
  Numbers Found;
  for (int64_t Step = -MaxSteps; Step <= MaxSteps; ++Step) {
    int64_t Count, Multiple;
    if (!llvm::AddOverflow(Value / Unit, Step, Count) && Count > 0 &&
        !llvm::MulOverflow(Count, Unit, Multiple))
      Found.push_back(Multiple);
  }
  return Found;
}

static int64_t product(std::initializer_list<int64_t> Factors) {
  int64_t Product = 1;
  for (int64_t F : Factors)
    if (llvm::MulOverflow(Product, F, Product))
      return 1; // nothing near is legal; deriving it reports that
  return Product;
}

static std::vector<KeyNumber *> findNodes(Spec &S, SourceRange) {
  if (!S.Cluster)
    return {};
  return {&S.Cluster->Nodes};
}

template <KeyNumber ServeSpec::*Member>
static std::vector<KeyNumber *> findServed(Spec &S, SourceRange) {
  if (!S.Serve)
    return {};
  return {&(*S.Serve.*Member)};
}

static Numbers replicasOfCluster(const Spec &S, const KeyNumber &) {
  const ClusterSpec &C = *S.Cluster;
  return {product({*C.Nodes, *C.DevicesPerNode}) / *S.Parallel.World};
}

static Numbers tokensOfSequences(const Spec &S, const KeyNumber &) {
  return {*S.Serve->MaxSequences};
}

static Numbers longestContext(const Spec &S, const KeyNumber &) {
  return {*S.Serve->MaxLength};
}

/// Numbers with which all experts divide over ep: the least one, and that below
/// the current one.
static Numbers copiesByRanks(const Spec &S, const KeyNumber &Now) {
  const RoutedExperts Of = routedExperts(S.Model);
  if (!Of.Count || **Of.Count > MaxRoutedExperts || *Now > MaxRoutedExperts)
    return {};
  const int64_t Ranks = *S.Parallel.Ep;
  const int64_t Above = *Now + (Ranks - (**Of.Count + *Now) % Ranks) % Ranks;
  return Above < Ranks ? Numbers({Above}) : Numbers({Above - Ranks, Above});
}

static Numbers divisorsOfWorld(const Spec &S, const KeyNumber &) {
  return divisorsOf(*S.Parallel.World);
}

static Numbers divisorsOfReplicas(const Spec &S, const KeyNumber &) {
  return divisorsOf(*S.Parallel.Dp);
}

static Numbers divisorsOfLayers(const Spec &S, const KeyNumber &) {
  return divisorsOf(S.Model.splitLayers() + *S.Parallel.EmbeddingAsLayer +
                    *S.Parallel.LossAsLayer);
}

/// The layer whose key called \p Name is set where \p Now is, or null.
static const LayerUse *findLayer(const Spec &S, llvm::StringRef Name,
                                 const KeyNumber &Now) {
  for (const BlockSpec &B : S.Model.Blocks)
    for (const LayerUse *Use : {&B.Mixer, &B.Network})
      if (const auto *Key = Use->find<int64_t>(Name);
          Key && Key->Range.start() == Now.Range.start())
        return Use;
  return nullptr;
}

static Numbers divisorsOfHeads(const Spec &S, const KeyNumber &Now) {
  const LayerUse *Use = findLayer(S, KvHeads, Now);
  const auto *All = Use ? Use->find<int64_t>(Heads) : nullptr;
  return All ? divisorsOf(**All) : Numbers();
}

static Numbers divisorsOfDouble(const Spec &, const KeyNumber &Now) {
  return *Now > INT64_MAX / 2 ? Numbers() : divisorsOf(2 * *Now);
}

static Numbers multiplesOfRanks(const Spec &S, const KeyNumber &Now) {
  const ParallelSpec &P = S.Parallel;
  const int64_t Etp = P.Etp.isPresent() ? *P.Etp : *P.Tp;
  const int64_t Dense = product({*P.Tp, *P.Cp, *P.Pp});
  const int64_t Expert = product({Etp, *P.Ep, *P.Pp});
  return multiplesOf(product({Dense / std::gcd(Dense, Expert), Expert}), *Now);
}

static Numbers multiplesOfBatch(const Spec &S, const KeyNumber &Now) {
  return multiplesOf(product({*S.Train.MicroBatch, *S.Parallel.Dp}), *Now);
}

static Numbers multiplesOfSplit(const Spec &S, const KeyNumber &Now) {
  const ParallelSpec &P = S.Parallel;
  const int64_t Tp = *P.SequenceParallel ? *P.Tp : 1;
  const int64_t Each = *P.Cp > 1 && Tp % 2 == 1 ? 2 : 1;
  return multiplesOf(product({*P.Cp, Tp, Each}), *Now);
}

static Numbers multiplesOfChunks(const Spec &S, const KeyNumber &Now) {
  return multiplesOf(*S.Parallel.Vpp, *Now);
}

/// Multiples of the key heads and of the ranks that heads are split over.
static Numbers multiplesOfHeads(const Spec &S, const KeyNumber &Now) {
  int64_t Shared = 1;
  if (const LayerUse *Use = findLayer(S, Heads, Now))
    if (const auto *Key = Use->find<int64_t>(KvHeads);
        Key && Key->Range.start() != Now.Range.start() && **Key > 0)
      Shared = **Key;
  const int64_t Tp = *S.Parallel.Tp;
  return multiplesOf(product({Shared / std::gcd(Shared, Tp), Tp}), *Now);
}

/// Up to the layers that there are.
static Numbers multiplesByTwo(const Spec &S, const KeyNumber &Now) {
  Numbers Found;
  for (int64_t N = *Now; N < S.Model.layerCount();)
    Found.push_back(N *= 2);
  return Found;
}

static Numbers nodesOfWorld(const Spec &S, const KeyNumber &) {
  const int64_t Ranks =
      product({*S.Parallel.World, S.Serve ? *S.Serve->Replicas : 1});
  return {static_cast<int64_t>(
      llvm::divideCeil(Ranks, *S.Cluster->DevicesPerNode))};
}

static Numbers stagesOfZero(const Spec &, const KeyNumber &) {
  return {0, 1, 2, 3};
}

static Numbers numbersAround(const Spec &, const KeyNumber &Now) {
  return multiplesOf(1, *Now);
}

static Numbers sequenceLength(const Spec &S, const KeyNumber &) {
  return {*S.Train.Sequence};
}

static Numbers evenNumbers(const Spec &, const KeyNumber &Now) {
  return multiplesOf(2, *Now);
}

/// Sets a key, if it has another value.
template <typename T>
static void write(KeyTexts &W, llvm::StringRef Name, Located<T> &Key, T Value) {
  if (Key.is(Value))
    return;
  Key.state(Value, Key.Range);
  W.push_back({Name, spell(Value)});
}

static void set(KeyTexts &W, llvm::StringRef Key, std::string Value) {
  W.push_back({Key, std::move(Value)});
}

/// Counts the embedding and the loss as layers or not, as \p S does not yet.
static KeyTexts countEnds(Spec &S, bool Embedding, bool Loss) {
  KeyTexts W;
  for (auto [Name, Key, Wanted] :
       {std::tuple("embedding_as_layer", &S.Parallel.EmbeddingAsLayer,
                   Embedding),
        std::tuple("loss_as_layer", &S.Parallel.LossAsLayer, Loss)})
    if (**Key != Wanted) {
      Key->state(Wanted, Key->Range);
      set(W, Name, Wanted ? "true" : "false");
    }
  return W;
}

static KeyTexts countEmbedding(Spec &S) { return countEnds(S, true, false); }
static KeyTexts countLoss(Spec &S) { return countEnds(S, false, true); }
static KeyTexts countBoth(Spec &S) { return countEnds(S, true, true); }
static KeyTexts countNeither(Spec &S) { return countEnds(S, false, false); }

/// Adds \p Count chunks of \p Layers to a list and its text.
static void addChunks(ParallelSpec &P, std::string &Text, int64_t Count,
                      int64_t Layers) {
  if (Count == 0)
    return;
  P.Layout.resize(P.Layout.size() + static_cast<size_t>(Count));
  for (int64_t I = 0; I < Count; ++I)
    P.Layout.end()[-1 - I].state(Layers, P.LayoutRange);
  Text += (Text.empty() ? "" : " + ") +
          (Count == 1 ? "" : std::to_string(Count) + " * ") + "[" +
          std::to_string(Layers) + "]";
}

/// Adds all layers to \p Chunks chunks, as evenly as can be, with the smaller
/// chunks at the ends, where the embedding and the loss are.
static void spreadLayers(Spec &S, std::string &Text, int64_t Chunks) {
  const int64_t Layers = S.Model.splitLayers();
  const int64_t Larger = Layers % Chunks, Smaller = Chunks - Larger;
  const int64_t After = Larger == 0 ? 0 : Smaller / 2;
  addChunks(S.Parallel, Text, Smaller - After, Layers / Chunks);
  addChunks(S.Parallel, Text, Larger, Layers / Chunks + 1);
  addChunks(S.Parallel, Text, After, Layers / Chunks);
}

static KeyTexts writeLayout(Spec &S) {
  ParallelSpec &P = S.Parallel;
  int64_t Chunks;
  if (llvm::MulOverflow(*P.Pp, *P.Vpp, Chunks) || Chunks > int64_t(MaxParts))
    return {};
  P.Layout.clear();
  std::string Text;
  spreadLayers(S, Text, Chunks);
  KeyTexts W;
  set(W, "layout", Text);
  return W;
}

/// Writes ends without layers, which need a list, if no other key is set for
/// them.
static KeyTexts writeEmptyEnds(Spec &S) {
  ParallelSpec &P = S.Parallel;
  const bool First = P.FirstStageLayers.is(0);
  const bool Last = P.LastStageLayers.is(0);
  if ((P.FirstStageLayers.isPresent() && !First) ||
      (P.LastStageLayers.isPresent() && !Last))
    return {};
  const int64_t Others = *P.Pp - First - Last;
  if (*P.Vpp > 1 || Others < 1 || Others > int64_t(MaxParts))
    return {};
  P.FirstStageLayers = P.LastStageLayers = {};
  P.Layout.clear();
  std::string Text;
  addChunks(P, Text, First, 0);
  spreadLayers(S, Text, Others);
  addChunks(P, Text, Last, 0);
  KeyTexts W;
  set(W, "layout", Text);
  return W;
}

/// Sets as many chunks per stage as a list of layers has.
static KeyTexts countChunks(Spec &S) {
  ParallelSpec &P = S.Parallel;
  const auto Chunks = static_cast<int64_t>(P.Layout.size());
  if (Chunks % *P.Pp != 0)
    return {};
  P.Vpp.state(Chunks / *P.Pp, P.Vpp.Range);
  KeyTexts W;
  set(W, "vpp", std::to_string(*P.Vpp));
  return W;
}

static KeyTexts balance(Spec &S) {
  ParallelSpec &P = S.Parallel;
  KeyTexts W;
  P.Partition.state(PartitionKind::Balanced, P.Partition.Range);
  set(W, "partition", "balanced");
  if (*P.Vpp > 1) {
    P.Vpp.state(1, P.Vpp.Range);
    set(W, "vpp", "1");
  }
  return W;
}

/// For each axis that shares the ranks the largest size up to the one it has,
/// if that is more than one change.
static KeyTexts divideWorld(Spec &S) {
  ParallelSpec &P = S.Parallel;
  KeyTexts W;
  int64_t Rest = *P.World;
  unsigned Changes = 0;
  for (auto [Name, Key] : {std::pair("tp", &P.Tp), std::pair("cp", &P.Cp),
                           std::pair("pp", &P.Pp)}) {
    int64_t Size = std::min(**Key, int64_t(MaxParts));
    while (Rest % Size != 0)
      --Size;
    Rest /= Size;
    if (Size == **Key)
      continue;
    ++Changes;
    Key->state(Size, Key->Range);
    set(W, Name, std::to_string(Size));
  }
  return Changes > 1 ? W : KeyTexts();
}

/// Heads of their own width, an even one for rotary positions.
static KeyTexts stateHeadDim(Spec &S) {
  KeyTexts W;
  for (BlockSpec &B : S.Model.Blocks) {
    auto *Width = B.Mixer.find<int64_t>("head_dim");
    const auto *Count = B.Mixer.find<int64_t>("heads");
    if (!Width || !Count || Width->isPresent() ||
        *S.Model.Hidden % **Count == 0)
      continue;
    Width->state(llvm::alignTo<2>(*S.Model.Hidden / **Count), Count->Range);
    if (W.empty())
      set(W, "head_dim", std::to_string(**Width));
  }
  return W;
}

#define SET(KEY, FIELD, VALUE)                                                 \
  [](Spec &S) {                                                                \
    KeyTexts W;                                                                \
    write(W, KEY, S.FIELD, VALUE);                                             \
    return W;                                                                  \
  }
#define WAYS(ENUMERATOR, ...)                                                  \
  static constexpr Way WaysOf##ENUMERATOR[] = {__VA_ARGS__};
#include "passes/vary/Moves.def"

llvm::ArrayRef<Move> vary::allMoves() {
#define KEY(FIELD)                                                             \
  [](Spec &S, SourceRange) { return std::vector<KeyNumber *>{&S.FIELD}; }
#define NUMBER(ENUMERATOR, NAME, FIND, VALUES)                                 \
  {MoveId::ENUMERATOR, NAME, FIND, VALUES},
#define WAYS(ENUMERATOR, ...)                                                  \
  {MoveId::ENUMERATOR, "", nullptr, nullptr, WaysOf##ENUMERATOR},
  static constexpr Move Rows[] = {
#include "passes/vary/Moves.def"
  };
#undef KEY
  return Rows;
}
#undef SET

const Move &vary::getMove(MoveId Id) {
  return allMoves()[static_cast<size_t>(Id)];
}
