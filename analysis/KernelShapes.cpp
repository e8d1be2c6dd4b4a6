// SPDX-License-Identifier: Apache-2.0
#include "analysis/KernelShapes.h"
#include "analysis/Analyses.h"
#include "analysis/CollectiveTimes.h"
#include "analysis/KernelTimes.h"
#include "analysis/LayerCounts.h"
#include "analysis/OpTimes.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Collects the shapes of one stage.
class ShapeCollector {
public:
  ShapeCollector(const Program &Of, KernelShapes &To);

  void stage(const Stage &S);

private:
  void block(const Block &B, int64_t Times);
  void add(const Block &B, const Op &O, int64_t Times);
  void message(const Block &B, const Op &O, int64_t Times);
  template <typename ShapeT> Nanoseconds timeOf(const ShapeT &S) const;
  Nanoseconds timeOf(const Block &B, const Op &O, Bytes Size);

  const Program &P;
  ExprOverlay Sizes; ///< with the bytes that ops touch
  const KernelTimes Kernels;
  std::optional<BenchmarkLaws> Laws;    ///< of `cost estimate`
  std::optional<CollectiveTimes> Links; ///< of a job with a cluster
  KernelShapes &To;
  KernelShapes Here; ///< of the stage
};

} // namespace

ShapeCollector::ShapeCollector(const Program &Of, KernelShapes &To)
    : P(Of), Sizes(Of), Kernels(Sizes), To(To) {
  if (*P.Spec.Cost.Kind == CostKind::Estimate)
    Laws.emplace(
        BenchmarkNumbers(LawParameters(P.Spec.Cost), P.Spec.Cost.Device));
  if (P.Spec.Cluster)
    Links.emplace(P);
}

static std::string passOf(const Op &O) {
  if (O.Phase == Phase::Recompute)
    return "forward";
  if (O.Phase == Phase::Step)
    return "step";
  const llvm::StringRef Suffix = getSuffix(O.Derivative);
  return Suffix.empty() ? "forward" : Suffix.drop_front().str();
}

static auto partsOf(const ProductRun &R) {
  const ProductShape &S = R.Shape;
  return std::tuple(llvm::StringRef(R.Pass), S.Operand, S.Result, S.IsGrouped,
                    S.Groups, S.M, S.N, S.K);
}

static auto partsOf(const AttentionRun &R) {
  const AttentionShape &S = R.Shape;
  return std::tuple(llvm::StringRef(R.Pass), S.Batch, S.Queries, S.Keys,
                    S.Pairs, S.QueryChannels, S.KeyChannels, S.ContextChannels,
                    S.Heads);
}

static auto partsOf(const StreamRun &R) {
  return std::tuple(llvm::StringRef(R.Pass), R.Shape.Class, R.Shape.Work,
                    R.Shape.Bytes);
}

static auto partsOf(const MessageRun &R) {
  return std::tuple(R.Kind, llvm::StringRef(R.Group), R.Size);
}

/// Adds \p New to \p All, or its count to that of its shape, as \p Join does.
template <typename T, typename JoinT>
static void addTo(std::vector<T> &All, const T &New, JoinT Join) {
  const auto It = llvm::find_if(
      All, [&](const T &Of) { return partsOf(Of) == partsOf(New); });
  if (It == All.end())
    All.push_back(New);
  else
    It->Count = Join(It->Count, New.Count);
}

template <typename ShapeT>
Nanoseconds ShapeCollector::timeOf(const ShapeT &S) const {
  return Laws ? roundedTime(Laws->timeOf(S)) : Nanoseconds();
}

void ShapeCollector::add(const Block &B, const Op &O, int64_t Times) {
  const std::string Name = B.Name + "/" + O.Name;
  switch (const KernelClass C = kernelClassOf(P, B, O)) {
  case KernelClass::Product:
  case KernelClass::GroupedProduct: {
    const ProductShape S = valuesOf(productShapeOf(Sizes, B, O));
    addTo(Here.Products, ProductRun{{Name, passOf(O), S, Times, timeOf(S)}},
          std::plus());
    break;
  }
  case KernelClass::Attention:
  case KernelClass::UnfusedAttention: {
    const AttentionShape S = valuesOf(attentionShapeOf(Sizes, B, O));
    addTo(Here.Attention, AttentionRun{{Name, passOf(O), S, Times, timeOf(S)}},
          std::plus());
    break;
  }
  case KernelClass::Optimizer:
    if (!Laws) // only then its bytes are known
      break;
    [[fallthrough]];
  case KernelClass::Scan:
  case KernelClass::Embedding:
  case KernelClass::Stream: {
    const Expr Touched = touchedBytes(Sizes, B, O);
    if (!Touched.hasValue())
      break;
    const StreamShape S =
        valuesOf(Kernels.streamShapeOf(C, B, O, ByteExpr(Touched)));
    if (S.Bytes > 0)
      addTo(Here.Streams, StreamRun{{Name, passOf(O), S, Times, timeOf(S)}},
            std::plus());
    break;
  }
  case KernelClass::Fused:
    break;
  }
}

Nanoseconds ShapeCollector::timeOf(const Block &B, const Op &O, Bytes Size) {
  const Expr Time =
      CollectiveLaws(Sizes, *Links).timeOf(B, O, numberOf(Sizes, Size.value()));
  return Sizes.Sizes.value(TimeExpr(Time));
}

void ShapeCollector::message(const Block &B, const Op &O, int64_t Times) {
  const int64_t Ranks = O.Group.size(P.Mesh);
  if (Ranks <= 1)
    return;
  const int64_t OnDomain =
      Links ? std::llround(Links->placeOf(O.Group).OnDomain) : Ranks;
  forEachSize(P, O, [&](Bytes Size, int64_t Count) {
    addTo(Here.Messages,
          MessageRun{O.Kind, textOf(O.Group, P.Spec, P.Mesh), Ranks, OnDomain,
                     Size.value(), Times * Count,
                     Laws && Links ? timeOf(B, O, Size) : Nanoseconds()},
          std::plus());
  });
}

void ShapeCollector::block(const Block &B, int64_t Times) {
  for (const Op &O : B.Ops) {
    if (isCollective(O.Kind))
      message(B, O, Times);
    else if (!isView(O.Kind))
      add(B, O, Times);
  }
}

/// Takes shapes in, with the larger of two counts.
template <typename T>
static void mergeInto(std::vector<T> &All, const std::vector<T> &Of) {
  for (const T &New : Of)
    addTo(All, New, [](int64_t A, int64_t B) { return std::max(A, B); });
}

void ShapeCollector::stage(const Stage &S) {
  Here = {};
  const int64_t MicroBatches = P.Schedule.microBatchesOfChunk();
  for (const auto &[Index, Layers] : layersByBlock(S))
    block(P.Blocks[BlockId(Index)], Layers * MicroBatches);
  block(P.Blocks[S.Step], 1);
  mergeInto(To.Products, Here.Products);
  mergeInto(To.Attention, Here.Attention);
  mergeInto(To.Streams, Here.Streams);
  mergeInto(To.Messages, Here.Messages);
}

KernelShapes foretrace::kernelShapesOf(const Program &P) {
  KernelShapes Shapes;
  ShapeCollector Of(P, Shapes);
  for (const Stage &S : P.Stages)
    Of.stage(S);
  return Shapes;
}
