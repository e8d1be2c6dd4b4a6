// SPDX-License-Identifier: Apache-2.0
//
// The ways out of errors of `derive` that take more than a number.
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Passes.h"
#include "passes/derive/RemedyTables.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::remedies;

/// Counts the embedding and the loss as layers or not, as \p S does not yet.
template <bool Embedding, bool Loss> static Way countEnds(Spec &S) {
  Way W;
  for (auto [Name, Key, Wanted] :
       {std::tuple("embedding_as_layer", &S.Parallel.EmbeddingAsLayer,
                   Embedding),
        std::tuple("loss_as_layer", &S.Parallel.LossAsLayer, Loss)})
    if (**Key != Wanted) {
      Key->state(Wanted, Key->Range);
      W.set(Name, Wanted ? "true" : "false");
    }
  return W;
}

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
static void addLayers(Spec &S, std::string &Text, int64_t Chunks) {
  const int64_t Layers = S.Model.layerCount();
  const int64_t Larger = Layers % Chunks, Smaller = Chunks - Larger;
  const int64_t After = Larger == 0 ? 0 : Smaller / 2;
  addChunks(S.Parallel, Text, Smaller - After, Layers / Chunks);
  addChunks(S.Parallel, Text, Larger, Layers / Chunks + 1);
  addChunks(S.Parallel, Text, After, Layers / Chunks);
}

static Way writeLayout(Spec &S) {
  ParallelSpec &P = S.Parallel;
  int64_t Chunks;
  if (llvm::MulOverflow(*P.Pp, *P.Vpp, Chunks) || Chunks > int64_t(MaxParts))
    return {};
  P.Layout.clear();
  std::string Text;
  addLayers(S, Text, Chunks);
  Way W;
  W.set("layout", Text);
  return W;
}

/// Ends without layers, as only a list can say it, if that is all that is said
/// of them.
static Way writeEmptyEnds(Spec &S) {
  ParallelSpec &P = S.Parallel;
  const auto IsEmpty = [](const Located<int64_t> &Key) {
    return Key.isPresent() && *Key == 0;
  };
  const bool First = IsEmpty(P.FirstStageLayers);
  const bool Last = IsEmpty(P.LastStageLayers);
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
  addLayers(S, Text, Others);
  addChunks(P, Text, Last, 0);
  Way W;
  W.set("layout", Text);
  return W;
}

/// As many chunks a stage as a list of layers has for it.
static Way countChunks(Spec &S) {
  ParallelSpec &P = S.Parallel;
  const auto Chunks = static_cast<int64_t>(P.Layout.size());
  if (Chunks % *P.Pp != 0)
    return {};
  P.Vpp.state(Chunks / *P.Pp, P.Vpp.Range);
  Way W;
  W.set("vpp", std::to_string(*P.Vpp));
  return W;
}

static Way balance(Spec &S) {
  ParallelSpec &P = S.Parallel;
  Way W;
  P.Partition.state(PartitionKind::Balanced, P.Partition.Range);
  W.set("partition", "balanced");
  if (*P.Vpp > 1) {
    P.Vpp.state(1, P.Vpp.Range);
    W.set("vpp", "1");
  }
  return W;
}

static Way putStagesLast(Spec &S) {
  const RankOrderKind Last = RankOrderKind::TpCpEpDpPp;
  S.Parallel.RankOrder.state(Last, S.Parallel.RankOrder.Range);
  Way W;
  W.set("rank_order", getSpelling(Last));
  return W;
}

/// For each axis that shares the ranks the largest size up to the one it has,
/// if that is more than one change.
static Way divideWorld(Spec &S) {
  ParallelSpec &P = S.Parallel;
  Way W;
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
    W.set(Name, std::to_string(Size));
  }
  return Changes > 1 ? W : Way();
}

/// Heads of their own width, an even one for rotary positions.
static Way stateHeadDim(Spec &S) {
  Way W;
  for (BlockSpec &B : S.Model.Blocks) {
    AttentionSpec &A = B.Attention;
    if (A.HeadDim.isPresent() || *S.Model.Hidden % *A.Heads == 0)
      continue;
    A.HeadDim.state(llvm::alignTo<2>(*S.Model.Hidden / *A.Heads),
                    A.Heads.Range);
    if (W.Text.empty())
      W.set("head_dim", std::to_string(*A.HeadDim));
  }
  return W;
}

static Way permitZero(Spec &S) {
  S.Parallel.ZeroPipeline.state(true, S.Parallel.Zero.Range);
  Way W;
  W.set("zero_pipeline", "true");
  return W;
}

static constexpr diag::Id OfTheSplit[] = {diag::LayersIndivisible,
                                          diag::StageChunks, diag::StageRest,
                                          diag::LayoutLength, diag::LayoutSum};
static constexpr diag::Id OfTheList[] = {diag::LayoutLength};
static constexpr diag::Id OfTheWorld[] = {diag::WorldIndivisible};
static constexpr diag::Id OfTheHeads[] = {diag::HeadDimIndivisible};
static constexpr diag::Id OfTheEnds[] = {diag::StageEmpty};
static constexpr diag::Id OfTheOrder[] = {diag::RankOrderExperts};
static constexpr diag::Id OfZero[] = {diag::ZeroPipeline};

llvm::ArrayRef<WayRow> foretrace::remedies::wayRows() {
  static constexpr WayRow Rows[] = {
      {WayKind::CountEnds, OfTheSplit, countEnds<true, false>},
      {WayKind::CountEnds, OfTheSplit, countEnds<false, true>},
      {WayKind::CountEnds, OfTheSplit, countEnds<true, true>},
      {WayKind::CountEnds, OfTheSplit, countEnds<false, false>},
      {WayKind::Chunks, OfTheList, countChunks},
      {WayKind::Layout, OfTheSplit, writeLayout},
      {WayKind::Layout, OfTheEnds, writeEmptyEnds},
      {WayKind::Balance, OfTheSplit, balance},
      {WayKind::RankOrder, OfTheOrder, putStagesLast},
      {WayKind::World, OfTheWorld, divideWorld},
      {WayKind::HeadDim, OfTheHeads, stateHeadDim},
      {WayKind::Permission, OfZero, permitZero},
  };
  return Rows;
}
