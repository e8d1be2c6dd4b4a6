// SPDX-License-Identifier: Apache-2.0
#include "passes/vary/Ways.h"
#include "ir/model/Spellings.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::vary;

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

KeyTexts vary::countEmbedding(Spec &S) { return countEnds(S, true, false); }
KeyTexts vary::countLoss(Spec &S) { return countEnds(S, false, true); }
KeyTexts vary::countBoth(Spec &S) { return countEnds(S, true, true); }
KeyTexts vary::countNeither(Spec &S) { return countEnds(S, false, false); }

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

KeyTexts vary::writeLayout(Spec &S) {
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

/// Ends without layers, as only a list can say it, if that is all that is said
/// of them.
KeyTexts vary::writeEmptyEnds(Spec &S) {
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

/// As many chunks a stage as a list of layers has for it.
KeyTexts vary::countChunks(Spec &S) {
  ParallelSpec &P = S.Parallel;
  const auto Chunks = static_cast<int64_t>(P.Layout.size());
  if (Chunks % *P.Pp != 0)
    return {};
  P.Vpp.state(Chunks / *P.Pp, P.Vpp.Range);
  KeyTexts W;
  set(W, "vpp", std::to_string(*P.Vpp));
  return W;
}

KeyTexts vary::balance(Spec &S) {
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
KeyTexts vary::divideWorld(Spec &S) {
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
KeyTexts vary::stateHeadDim(Spec &S) {
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
