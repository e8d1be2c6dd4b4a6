// SPDX-License-Identifier: Apache-2.0
#include "analysis/KernelShapes.h"
#include "analysis/KernelTimes.h"
#include "analysis/LayerCounts.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Collects the shapes of one stage.
class ShapeCollector {
public:
  ShapeCollector(const Program &P, KernelShapes &To) : P(P), Laws(P), To(To) {}

  void stage(const Stage &S);

private:
  void block(const Block &B, int64_t Times);
  void product(const Block &B, const Op &O, int64_t Times);
  void attention(const Block &B, const Op &O, int64_t Times);
  void message(const Op &O, int64_t Times);
  int64_t elements(const Value &V) const {
    return elementsPerRank(P, V).value();
  }
  int64_t extent(const Value &V, DimKind Kind) const;

  const Program &P;
  const KernelTimes Laws;
  KernelShapes &To;
  KernelShapes Here; ///< of the stage
};

} // namespace

static std::string passOf(const Op &O) {
  if (O.Phase == Phase::Recompute)
    return "forward";
  const llvm::StringRef Suffix = getSuffix(O.Derivative);
  return Suffix.empty() ? "forward" : Suffix.drop_front().str();
}

/// Returns \p New among \p All if its shape is there, after adding its count,
/// or adds it.
template <typename T, typename IsAlikeT>
static void addTo(std::vector<T> &All, T New, IsAlikeT IsAlike) {
  const auto It =
      llvm::find_if(All, [&](const T &Of) { return IsAlike(Of, New); });
  if (It == All.end())
    All.push_back(std::move(New));
  else
    It->Count += New.Count;
}

static bool areAlike(const ProductShape &A, const ProductShape &B) {
  return A.Operand == B.Operand && A.Result == B.Result &&
         A.Groups == B.Groups && A.M == B.M && A.N == B.N && A.K == B.K &&
         A.Pass == B.Pass && A.Time == B.Time;
}

static bool areAlike(const AttentionShape &A, const AttentionShape &B) {
  return A.Pass == B.Pass && A.Batch == B.Batch && A.Queries == B.Queries &&
         A.Keys == B.Keys && A.Heads == B.Heads &&
         A.QueryChannels == B.QueryChannels && A.KeyChannels == B.KeyChannels &&
         A.ContextChannels == B.ContextChannels && A.Time == B.Time;
}

static bool areAlike(const MessageShape &A, const MessageShape &B) {
  return A.Kind == B.Kind && A.Group == B.Group && A.Size == B.Size;
}

/// The extent of a dimension on the rank, 1 if there is none.
int64_t ShapeCollector::extent(const Value &V, DimKind Kind) const {
  const int I = V.Type.indexOf(Kind);
  if (I < 0)
    return 1;
  const auto Dim = static_cast<size_t>(I);
  int64_t Ranks = 1;
  for (const Axis A : axesSplitting(P, V.Type, V.Layout, Dim))
    if (Kind != DimKind::Batch) // that of one replica
      Ranks *= P.Mesh[A];
  return std::max<int64_t>(P.Sizes.value(V.Type.Dims[Dim].Size) / Ranks, 1);
}

/// Of m k, k n and m n elements, m is the root of m k x m n / k n.
void ShapeCollector::product(const Block &B, const Op &O, int64_t Times) {
  const Value &Left = B.Values[O.Operands[0]], &Right = B.Values[O.Operands[1]],
              &Out = B.Values[O.Results.front()];
  const bool IsGrouped = Laws.classOf(B, O) == KernelClass::GroupedProduct;
  const int64_t Groups = IsGrouped ? groupsOf(P, B, O) : 1;
  const double OfLeft = static_cast<double>(elements(Left)) /
                        static_cast<double>(Groups),
               OfRight = static_cast<double>(elements(Right)) /
                         static_cast<double>(Groups),
               OfOut = static_cast<double>(elements(Out)) /
                       static_cast<double>(Groups);
  const int64_t M = std::llround(std::sqrt(OfLeft / OfRight * OfOut));
  if (M == 0)
    return;
  addTo(Here.Products,
        ProductShape{B.Name + "/" + O.Name, passOf(O), Left.Type.Element,
                     Out.Type.Element, Groups, M,
                     std::llround(OfOut / static_cast<double>(M)),
                     std::llround(OfLeft / static_cast<double>(M)), Times,
                     O.Time},
        [](const auto &A, const auto &B) { return areAlike(A, B); });
}

void ShapeCollector::attention(const Block &B, const Op &O, int64_t Times) {
  if (O.Derivative == Derivative::Param)
    return;
  const Op &Forward = O.Derivative == Derivative::None ? O : B.Ops[O.For];
  const Value &Query = B.Values[Forward.Operands[0]],
              &Key = B.Values[Forward.Operands[1]],
              &Context = B.Values[Forward.Results.front()];
  const int64_t Batch = extent(Query, DimKind::Batch),
                Queries = extent(Query, DimKind::Seq),
                Keys = extent(Key, DimKind::KvSeq);
  int64_t Heads = 0;
  for (const BlockSpec &Of : P.Spec.Model.Blocks)
    if (Of.Name == B.Name)
      if (const auto *Number = Of.Mixer.find<int64_t>("heads"))
        Heads = std::max<int64_t>(**Number / P.Mesh[Axis::Tp], 1);
  addTo(Here.Attention,
        AttentionShape{B.Name + "/" + O.Name, passOf(O), Batch, Queries, Keys,
                       Heads, elements(Query) / (Batch * Queries),
                       elements(Key) / (Batch * Keys),
                       elements(Context) / (Batch * Queries), Times, O.Time},
        [](const auto &A, const auto &B) { return areAlike(A, B); });
}

void ShapeCollector::message(const Op &O, int64_t Times) {
  const int64_t Ranks = O.Group.size(P.Mesh);
  if (Ranks > 1)
    addTo(Here.Messages,
          MessageShape{O.Kind, textOf(O.Group, P.Spec, P.Mesh), Ranks,
                       messageBytes(P, O).value(), Times, O.Time},
          [](const auto &A, const auto &B) { return areAlike(A, B); });
}

void ShapeCollector::block(const Block &B, int64_t Times) {
  for (const Op &O : B.Ops) {
    if (isCollective(O.Kind))
      message(O, Times);
    else if (O.Kind == OpKind::MatMul)
      product(B, O, Times);
    else if (O.Kind == OpKind::Attention)
      attention(B, O, Times);
  }
}

/// Takes a shape in, or the larger of two counts.
template <typename T>
static void mergeInto(std::vector<T> &All, const std::vector<T> &Of) {
  for (const T &New : Of) {
    const auto It =
        llvm::find_if(All, [&](const T &Old) { return areAlike(Old, New); });
    if (It == All.end())
      All.push_back(New);
    else
      It->Count = std::max(It->Count, New.Count);
  }
}

void ShapeCollector::stage(const Stage &S) {
  Here = {};
  const int64_t MicroBatches = P.Schedule.microBatchesOfChunk();
  for (const auto &[Index, Layers] : layersByBlock(S))
    block(P.Blocks[BlockId(Index)], Layers * MicroBatches);
  block(P.Blocks[S.Step], 1);
  mergeInto(To.Products, Here.Products);
  mergeInto(To.Attention, Here.Attention);
  mergeInto(To.Messages, Here.Messages);
}

KernelShapes foretrace::kernelShapesOf(const Program &P) {
  KernelShapes Shapes;
  ShapeCollector Of(P, Shapes);
  for (const Stage &S : P.Stages)
    Of.stage(S);
  return Shapes;
}
