// SPDX-License-Identifier: Apache-2.0
#include "analysis/Partition.h"
#include "analysis/LayerCounts.h"
#include "ir/model/Boundary.h"

using namespace foretrace;
using namespace foretrace::ir;

LayerWeight &LayerWeight::operator+=(const LayerWeight &W) {
  Parameters += W.Parameters;
  ParameterBytes += W.ParameterBytes;
  Activations += W.Activations;
  Work += W.Work;
  return *this;
}

LayerWeight LayerWeight::operator*(int64_t Times) const {
  return {Parameters * Times, ParameterBytes * Times, Activations * Times,
          Work * Times};
}

static LayerWeight weighBlock(const Program &P, const Block &B) {
  return {P.Sizes.value(B.Totals.Parameters), P.Sizes.value(B.Totals.Weights),
          P.Sizes.value(B.Totals.Kept), P.Sizes.value(B.Totals.Work)};
}

/// Makes the ratio of \p Part to \p Whole, which have these values; \p None is
/// that of nothing to nothing.
static Ratio makeRatio(Expr Part, Expr Whole, __int128 OfPart, __int128 OfWhole,
                       int64_t None) {
  const auto Permille = [&] {
    return static_cast<int64_t>((OfPart * 1000 + OfWhole / 2) / OfWhole);
  };
  return {OfWhole == 0 ? None : Permille(), Part, Whole};
}

DerivedFigure Ratio::derive(const FigureMaker &Make, std::string What,
                            llvm::StringRef Name, llvm::StringRef Unit) const {
  return {std::move(What), Permille, "thousandths",
          makeDerivation("floor($0*1000+floor($1,2),$1)",
                         {Make.part(Name.str(), Part, Unit),
                          Make.part("all", Whole, Unit)})};
}

namespace {

/// Sums over many layers, which may exceed 64 bits although no stage does.
struct LayerSums {
  __int128 Parameters = 0, Work = 0;

  void add(const LayerWeight &Layer, int64_t Times) {
    Parameters += static_cast<__int128>(Layer.Parameters.value()) * Times;
    Work += static_cast<__int128>(Layer.Work.value()) * Times;
  }
};

class PartitionMaker {
public:
  explicit PartitionMaker(const Program &Of) : Of(Of), P(Of) {
    for (const Block &B : P->Blocks)
      Blocks.push_back(weighBlock(Of, B));
  }

  Partition run();

private:
  Expr countOf(const Stage &S, unsigned Block, int64_t Layers);
  LayerWeightExprs weigh(const Stage &S, const LayerSequence &Layers);
  LayerWeight valueOf(const LayerWeightExprs &W) const;
  LayerSums firstLayers(int64_t Count) const;
  void compareWithEven(Partition &R, int64_t Parameters, int64_t Work) const;
  void shareWork(Partition &R);
  using Weighed = llvm::function_ref<ExprId(const LayerWeightExprs &)>;
  Ratio imbalance(llvm::ArrayRef<PartitionRow> Rows, Weighed Weigh);

  const Program &Of; ///< whose layers rows are of
  ExprOverlay P;
  std::vector<LayerWeight> Blocks;
};

} // namespace

/// Returns the number of layers, by the key that counts those of a stage if the
/// stage has one chunk.
Expr PartitionMaker::countOf(const Stage &S, unsigned Block, int64_t Layers) {
  const auto Kind = static_cast<unsigned>(&S - Of.Stages.data());
  const auto Known = P.Sizes.find({KeyId::StageLayers, Block, Kind});
  return Known && P->Schedule.Chunks == 1 ? Expr(P.Sizes, *Known)
                                          : numberOf(P, Layers);
}

LayerWeightExprs PartitionMaker::weigh(const Stage &S,
                                       const LayerSequence &Layers) {
  const LayerCounts Counts = layersByBlock(Layers);
  auto Sum = [&](auto BlockTotals::*Each) {
    llvm::SmallVector<ExprId, 4> Terms;
    for (const auto &[Block, Count] : Counts)
      Terms.push_back(
          countOf(S, Block, Count) *
          Expr(P.Sizes, (P->Blocks[BlockId(Block)].Totals.*Each).Id));
    return sumOf(P, Terms);
  };
  return {Sum(&BlockTotals::Parameters), Sum(&BlockTotals::Weights),
          Sum(&BlockTotals::Kept), Sum(&BlockTotals::Work)};
}

LayerWeight PartitionMaker::valueOf(const LayerWeightExprs &W) const {
  return {P.Sizes.value(W.Parameters), P.Sizes.value(W.ParameterBytes),
          P.Sizes.value(W.Activations), P.Sizes.value(W.Work)};
}

/// Sums the first \p Count entries of the model, including the embedding.
LayerSums PartitionMaker::firstLayers(int64_t Count) const {
  LayerSums All;
  for (const LayerGroup &G : P->Layers) {
    LayerSums Period;
    int64_t Layers = 0;
    for (const BlockRun &R : G.Runs) {
      Period.add(Blocks[R.Block.Index], R.Count);
      Layers += R.Count;
    }
    const int64_t Periods = std::min(G.Periods, Count / Layers);
    All.Parameters += Period.Parameters * Periods;
    All.Work += Period.Work * Periods;
    Count -= Periods * Layers;
    if (Periods == G.Periods)
      continue;
    for (const BlockRun &R : G.Runs) {
      const int64_t Taken = std::min(R.Count, Count);
      All.add(Blocks[R.Block.Index], Taken);
      Count -= Taken;
    }
    return All;
  }
  return All;
}

/// Compares with stages of as many layers each; the first one also has the
/// embedding, the last one the head.
void PartitionMaker::compareWithEven(Partition &R, int64_t Parameters,
                                     int64_t Work) const {
  const int64_t Layers = P->Spec.Model.layerCount();
  const int64_t Stages = P->Schedule.Stages;
  LayerSums Largest, Before;
  int64_t Done = 0;
  for (int64_t I = 0; I < Stages; ++I) {
    Done += Layers / Stages + (I == 0) + (I + 1 == Stages);
    const LayerSums Until = firstLayers(Done);
    Largest.Parameters =
        std::max(Largest.Parameters, Until.Parameters - Before.Parameters);
    Largest.Work = std::max(Largest.Work, Until.Work - Before.Work);
    Before = Until;
  }
  auto Ratio = [](__int128 Even, int64_t Here) -> std::optional<int64_t> {
    if (Here == 0)
      return std::nullopt;
    return static_cast<int64_t>((Even * 1000 + Here / 2) / Here);
  };
  R.EvenParameters = Ratio(Largest.Parameters, Parameters);
  R.EvenWork = Ratio(Largest.Work, Work);
}

void PartitionMaker::shareWork(Partition &R) {
  Expr All = numberOf(P, 0);
  __int128 Sum = 0;
  for (const PartitionRow &Each : R.Rows) {
    const int64_t Times = Each.Stages.Count * Each.Chunks.Count;
    All += Expr(P.Sizes, Each.From.Work.Id) * Times;
    Sum += static_cast<__int128>(Each.Of.Work.value()) * Times;
  }
  for (PartitionRow &Each : R.Rows)
    Each.Work = makeRatio(Expr(P.Sizes, Each.From.Work.Id), All,
                          Each.Of.Work.value(), Sum, /*None=*/0);
}

/// Returns the ratio of the largest stage to the mean.
Ratio PartitionMaker::imbalance(llvm::ArrayRef<PartitionRow> Rows,
                                Weighed Weigh) {
  Expr All = numberOf(P, 0), Largest = All, Stage = All;
  __int128 Sum = 0;
  for (const PartitionRow &R : Rows) {
    const Expr Chunks = Expr(P.Sizes, Weigh(R.From)) * R.Chunks.Count;
    Stage = R.Chunks.First == 0 ? Chunks : Stage + Chunks;
    All += Chunks * R.Stages.Count;
    Sum += static_cast<__int128>(Chunks.value()) * R.Stages.Count;
    if (Stage.value() > Largest.value())
      Largest = Stage;
  }
  const Located<int64_t> &Stages = P->Spec.Parallel.Pp;
  return makeRatio(Largest * exprOf(P, Stages), All,
                   static_cast<__int128>(Largest.value()) * *Stages, Sum,
                   /*None=*/1000);
}

Partition PartitionMaker::run() {
  Partition Out;
  Out.Blocks = Blocks;
  int64_t Parameters = 0, Work = 0; // of the largest stages
  for (const Stage &S : Of.Stages) {
    LayerWeight Whole;
    int64_t Chunk = 0;
    for (const ChunkRun &C : S.Chunks) {
      const LayerWeightExprs From = weigh(S, C.Layers);
      const ByteExpr Sent =
          boundarySize(P, boundaryAfter(P, P->Schedule.partOf(S.First, Chunk),
                                        /*IsForward=*/true));
      PartitionRow R{{S.First, S.Count},
                     {Chunk, C.Count},
                     &C.Layers,
                     From,
                     Sent,
                     valueOf(From),
                     {},
                     P.Sizes.value(Sent)};
      Chunk += C.Count;
      Whole += R.Of * C.Count;
      Out.Rows.push_back(R);
    }
    Out.IsOverflow |= Whole.isOverflow();
    if (Out.IsOverflow)
      return Out;
    Parameters = std::max(Parameters, Whole.Parameters.value());
    Work = std::max(Work, Whole.Work.value());
  }
  shareWork(Out);
  Out.ParameterImbalance = imbalance(
      Out.Rows, [](const LayerWeightExprs &W) { return W.Parameters.Id; });
  Out.WorkImbalance =
      imbalance(Out.Rows, [](const LayerWeightExprs &W) { return W.Work.Id; });
  if (P->Schedule.Chunks == 1 && P->Spec.Model.towerLayers() == 0 &&
      P->Spec.Model.layerCount() % P->Schedule.Stages == 0)
    compareWithEven(Out, Parameters, Work);
  Out.Sizes = std::move(P.Sizes);
  return Out;
}

Partition foretrace::partitionOf(const Program &P) {
  return PartitionMaker(P).run();
}
