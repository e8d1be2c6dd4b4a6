// SPDX-License-Identifier: Apache-2.0
#include "analysis/CacheTransfer.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace foretrace;
using namespace foretrace::ir;

Expr foretrace::cachedTokens(ExprScope P) {
  const RequestsSpec &R = *P->Spec.Requests;
  if (!*P->Spec.Serve->PrefixCaching)
    return numberOf(P, 0);
  constexpr int64_t Millionths = 1'000'000;
  const Expr Input = exprOf(P, R.Input), Prefix = exprOf(P, R.Prefix);
  const Expr Rate =
      R.HitRate.isPresent() ? exprOf(P, R.HitRate) : numberOf(P, 0);
  const Expr Hit =
      Prefix + floorDiv((Input + Prefix * -1) * Rate, numberOf(P, Millionths));
  return min(Hit, Input + int64_t(-1));
}

namespace {

/// How the ranks of tp hold one dimension of what is cached: the parts that
/// differ are equal and consecutive, each on `Copies` consecutive ranks.
struct Holding {
  int64_t Extent; ///< of all parts
  int64_t Part;
  int64_t Copies;

  /// Returns whether \p Ranks hold each part equally often.
  bool isEven(int64_t Ranks) const {
    constexpr int64_t Most = int64_t(1) << 38; // products stay below 2^63
    return Part > 0 && Extent > 0 && Part <= Most && Extent <= Most &&
           Copies > 0 && Copies * Extent == Ranks * Part;
  }
  /// Returns the part of a rank.
  int64_t partOf(int64_t Rank) const { return Rank / Copies; }
};

/// Bytes by the ranks of both sides, the receiver first.
using RankBytes = std::map<std::pair<int64_t, int64_t>, int64_t>;

/// Compares what two programs of a model cache.
class TransferCounter {
public:
  TransferCounter(ExprScope From, ExprScope To)
      : From(From), To(To), Tokens(tokensToMove()) {}

  std::optional<CacheTransfer> run();

private:
  int64_t tokensToMove() {
    return (exprOf(To, To->Spec.Requests->Input) + cachedTokens(To) * -1)
        .value();
  }
  static Holding holdingOf(ExprScope P, const Value &V, size_t Dim);
  bool addValue(const Value &Out, const Value &In, int64_t Limit,
                RankBytes &Sum);
  bool addLayer(const Block &Out, const Block &In, RankBytes &Sum);
  bool addLayers(llvm::ArrayRef<unsigned> Out, llvm::ArrayRef<unsigned> In,
                 RankBytes &Sum);
  static StageTransfer fold(const RankBytes &Of);

  ExprScope From, To;
  int64_t Tokens;
  /// By the blocks of both programs.
  std::map<std::pair<unsigned, unsigned>, RankBytes> Known;
};

} // namespace

/// Ranks hold copies where there are more than parts: with one rank, the extent
/// is that of all parts.
Holding TransferCounter::holdingOf(ExprScope P, const Value &V, size_t Dim) {
  const std::optional<ExprId> Tp = P.Sizes.find({KeyId::ParallelTp});
  const ExprId Size = V.Type.Dims[Dim].Size;
  const int64_t Extent =
      Tp ? P.at(P.Sizes.replace(Size, *Tp, P.Sizes.constant(1))).value()
         : P.Sizes.value(Size);
  const int64_t Part = extentOnRank(P, V.Type, V.Layout, Dim).value();
  const auto Held = static_cast<__int128>(P->Mesh[Axis::Tp]) * Part;
  return {Extent, Part, Extent > 0 ? static_cast<int64_t>(Held / Extent) : 0};
}

/// Adds what each rank that holds \p In gets of \p Out. At most one dimension
/// is split over tp.
bool TransferCounter::addValue(const Value &Out, const Value &In, int64_t Limit,
                               RankBytes &Sum) {
  const int64_t FromRanks = From->Mesh[Axis::Tp], ToRanks = To->Mesh[Axis::Tp];
  Expr Rows = numberOf(To, 1);
  Holding Held = {1, 1, FromRanks}, Wanted = {1, 1, ToRanks};
  for (size_t Dim = 0; Dim < In.Type.Dims.size(); ++Dim) {
    const DimKind Kind = In.Type.Dims[Dim].Kind;
    if (Kind == DimKind::Batch)
      continue;
    if (Kind == DimKind::Context) {
      Rows *= numberOf(To, Limit == 0 ? Tokens : std::min(Limit, Tokens));
      continue;
    }
    const Holding O = holdingOf(From, Out, Dim), I = holdingOf(To, In, Dim);
    if (O.Extent != I.Extent || !O.isEven(FromRanks) || !I.isEven(ToRanks))
      return false;
    if (O.Part == O.Extent && I.Part == I.Extent) {
      Rows *= numberOf(To, I.Extent);
      continue;
    }
    Held = O;
    Wanted = I;
  }
  for (int64_t Rank = 0; Rank < ToRanks; ++Rank) {
    const int64_t Begin = Wanted.partOf(Rank) * Wanted.Part,
                  End = Begin + Wanted.Part,
                  Nearest = Rank * FromRanks / ToRanks;
    for (int64_t Part = Begin / Held.Part; Part * Held.Part < End; ++Part) {
      const int64_t Width = std::min(End, (Part + 1) * Held.Part) -
                            std::max(Begin, Part * Held.Part);
      const int64_t First = Part * Held.Copies;
      const int64_t Sender =
          std::clamp(Nearest, First, First + Held.Copies - 1);
      const int64_t Bytes =
          bytesOf(To, Rows * Width, In.Type.Element, blocksOf(In)).value();
      int64_t &All = Sum[{Rank, Sender}];
      if (Bytes == NoValue || llvm::AddOverflow(All, Bytes, All))
        return false;
    }
  }
  return true;
}

/// Adds what moves of one layer, of a block of each program.
bool TransferCounter::addLayer(const Block &Out, const Block &In,
                               RankBytes &Sum) {
  const bool IsHybrid =
      *From->Spec.Serve->HybridCache || *To->Spec.Serve->HybridCache;
  auto IsCache = [](const Op &O) { return isCache(O.Kind); };
  const auto Sent = llvm::make_filter_range(Out.Ops, IsCache);
  auto Next = Sent.begin();
  for (const Op &O : llvm::make_filter_range(In.Ops, IsCache)) {
    if (Next == Sent.end())
      return false;
    const int64_t Limit =
        IsHybrid && O.Stated.isValid() ? To.at(O.Stated).value() : 0;
    const Value &From = Out.Values[Next->Results.front()],
                &To = In.Values[O.Results.front()];
    if (From.Type.Element != To.Type.Element ||
        From.Type.Dims.size() != To.Type.Dims.size() ||
        !addValue(From, To, Limit, Sum))
      return false;
    ++Next;
  }
  return Next == Sent.end();
}

/// Adds what moves of layers that both stages have, by their blocks.
bool TransferCounter::addLayers(llvm::ArrayRef<unsigned> Out,
                                llvm::ArrayRef<unsigned> In, RankBytes &Sum) {
  for (const auto &[O, I] : llvm::zip_equal(Out, In)) {
    const auto [It, IsNew] = Known.try_emplace({O, I});
    if (IsNew &&
        !addLayer(From->Blocks[BlockId(O)], To->Blocks[BlockId(I)], It->second))
      return false;
    for (const auto &[Ranks, Bytes] : It->second)
      if (int64_t &All = Sum[Ranks]; llvm::AddOverflow(All, Bytes, All))
        return false;
  }
  return true;
}

/// Folds pairs of ranks that repeat at equal distances, as often as they do.
StageTransfer TransferCounter::fold(const RankBytes &Of) {
  StageTransfer T;
  for (const auto &[Ranks, Bytes] : Of)
    T.First.push_back({Ranks.second, Ranks.first, Bytes});
  const std::vector<RankTransfer> &All = T.First;
  for (size_t Each = 1; Each < All.size(); ++Each) {
    const int64_t FromStep = All[Each].From - All[0].From,
                  ToStep = All[Each].To - All[0].To;
    bool Repeats = All.size() % Each == 0;
    for (size_t I = Each; Repeats && I < All.size(); ++I) {
      const RankTransfer &Before = All[I - Each];
      Repeats = All[I] == RankTransfer{Before.From + FromStep,
                                       Before.To + ToStep, Before.Bytes};
    }
    if (!Repeats)
      continue;
    T.Times = static_cast<int64_t>(All.size() / Each);
    T.FromStep = FromStep;
    T.ToStep = ToStep;
    T.First.resize(Each);
    break;
  }
  return T;
}

/// Returns the blocks of the layers of a stage, in order.
static std::vector<unsigned> layersInOrder(const Stage &S) {
  std::vector<unsigned> All;
  for (const ChunkRun &C : S.Chunks)
    for (const LayerGroup &G : C.Layers)
      for (int64_t Period = 0; Period < G.Periods; ++Period)
        for (const BlockRun &R : G.Runs)
          All.insert(All.end(), static_cast<size_t>(R.Count), R.Block.Index);
  return All;
}

std::optional<CacheTransfer> TransferCounter::run() {
  const auto Ranks =
      static_cast<__int128>(From->Mesh[Axis::Tp]) + To->Mesh[Axis::Tp];
  if (Ranks * layerCount(From->Layers) > MaxTransfers)
    return std::nullopt;
  CacheTransfer Sum;
  Sum.Tokens = Tokens;
  std::vector<unsigned> Sent, Wanted; // that are left of both stages
  int64_t Sender = -1, Receiver = -1;
  while (true) {
    while (Sent.empty() && ++Sender < From->Schedule.Stages)
      Sent = layersInOrder(stageAt(From->Stages, Sender));
    while (Wanted.empty() && ++Receiver < To->Schedule.Stages)
      Wanted = layersInOrder(stageAt(To->Stages, Receiver));
    const size_t Both = std::min(Sent.size(), Wanted.size());
    if (Both == 0)
      break;
    RankBytes Moved;
    if (!addLayers(llvm::ArrayRef(Sent).take_front(Both),
                   llvm::ArrayRef(Wanted).take_front(Both), Moved))
      return std::nullopt;
    Sent.erase(Sent.begin(), Sent.begin() + static_cast<ptrdiff_t>(Both));
    Wanted.erase(Wanted.begin(), Wanted.begin() + static_cast<ptrdiff_t>(Both));
    for (const auto &Each : Moved)
      if (llvm::AddOverflow(Sum.Bytes, Each.second, Sum.Bytes))
        return std::nullopt;
    StageTransfer T = fold(Moved);
    if (T.First.empty()) // of an end of the model
      continue;
    T.From = {Sender, 1};
    T.To = {Receiver, 1};
    if (!Sum.Stages.empty() && Sum.Stages.back().continuesIn(T)) {
      ++Sum.Stages.back().From.Count;
      ++Sum.Stages.back().To.Count;
      continue;
    }
    Sum.Stages.push_back(std::move(T));
  }
  return Sum;
}

std::optional<CacheTransfer> foretrace::cacheTransferOf(ExprScope From,
                                                        ExprScope To) {
  return TransferCounter(From, To).run();
}
