// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/PointFilter.h"
#include "analysis/Figures.h"
#include "lang/diagnostics/Tools.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace llvm;

namespace foretrace::sweep {

Formulas::Formulas(const SweepSpec &S, ArrayRef<ir::ExprId> Of)
    : Code(S.Sizes, Of), Columns(Code), Row(Code),
      Inputs(Code.leaves().size()) {}

void Formulas::run(size_t Count,
                   function_ref<void(ir::Key, MutableArrayRef<int64_t>)> Fill) {
  for (const auto &[Index, L] : enumerate(Code.leaves())) {
    const MutableArrayRef<int64_t> Input(Inputs[Index].data(), Count);
    Fill(L.Key, Input);
    copy(Input, Columns.leaf(Index).begin());
  }
  Columns.run(Count);
}

int64_t Formulas::value(size_t Formula, size_t Point) {
  if (Columns.exists(Point))
    return Columns.values(Formula)[Point];
  Row.restart();
  for (size_t Leaf = 0; Leaf < Inputs.size(); ++Leaf)
    Row.set(Leaf, Inputs[Leaf][Point]);
  return Row.value(Formula);
}

std::vector<size_t> depthsOf(const ir::ExprTable &T,
                             function_ref<size_t(ir::Key)> DepthOf) {
  std::vector<size_t> Depths;
  for (const ir::ExprNode &N : T) {
    size_t &Depth = Depths.emplace_back(0);
    for (const ir::ExprId Operand : {N.Left, N.Right})
      if (Operand.isValid())
        Depth = std::max(Depth, Depths[Operand.Index]);
    if (N.Op == ir::ExprOp::Key && !N.Left.isValid())
      Depth = DepthOf(N.Key);
  }
  return Depths;
}

void moveRejections(RejectionCause Why, Rejection &Of, Tally &To) {
  if (Of.Count == 0)
    return;
  addRejected(To.Rejected[std::move(Why)], Of.Example, Of.Count);
  Of = {};
}

/// Conditions that axes alone decide, or the others.
static std::vector<size_t> conditionsOf(const SweepSpec &S, bool AreOfAxes) {
  std::vector<size_t> Found;
  for (const auto &[Index, C] : enumerate(S.Conditions))
    if (S.axesOf(C.Holds).has_value() == AreOfAxes)
      Found.push_back(Index);
  return Found;
}

static std::vector<ir::ExprId> exprsOf(const SweepSpec &S,
                                       ArrayRef<size_t> Conditions) {
  std::vector<ir::ExprId> Of;
  for (const size_t C : Conditions)
    Of.push_back(S.Conditions[C].Holds);
  return Of;
}

static std::vector<ir::ExprId> measuresOf(const SweepSpec &S) {
  std::vector<ir::ExprId> Of;
  for (const SweepSpec::Metric &M : S.Metrics)
    Of.push_back(M.Of);
  return Of;
}

/// The first condition of \p F that a point does not meet; their number if it
/// meets all.
static size_t firstUnmet(Formulas &F, size_t Point) {
  size_t I = 0;
  while (I < F.size() && F.value(I, Point) == 1)
    ++I;
  return I;
}

static std::vector<size_t> figuresRead(const SweepSpec &S) {
  std::vector<size_t> Read = S.metricsRead();
  erase_if(Read, [](size_t M) { return M >= allFigures().size(); });
  return Read;
}

PointFilter::PointFilter(const Sweep &S, const AxisOrder &P,
                         const PointBlock &Block)
    : Spec(S.Space.spec()), P(P), Block(Block),
      AxisConditions(conditionsOf(Spec, true)),
      PointConditions(conditionsOf(Spec, false)),
      OfAxes(Spec, exprsOf(Spec, AxisConditions)),
      OfPoints(Spec, exprsOf(Spec, PointConditions)),
      Measures(Spec, measuresOf(Spec)),
      LeavesUnfit(!S.TimesAll && !Spec.TakesUnfit), Reads(P.Inner.size()),
      Unmet(Spec.Conditions.size()), Missing(Spec.Metrics.size()),
      MetricsRead(figuresRead(Spec)), Lacking(MetricsRead.size()) {
  std::vector<AxisKey> ByAxis(Spec.Axes.size());
  for (const auto &[Index, O] : enumerate(P.Outer))
    ByAxis[O.Axis].Outer = Index;
  for (const auto &[Index, I] : enumerate(P.Inner))
    ByAxis[I.Axis].Inner = Index;
  for (const auto &[Index, A] : enumerate(Spec.Axes))
    for (const SweepSpec::Key &K : A.Keys) {
      AxisKeys.push_back(ByAxis[Index]);
      AxisKeys.back().Numbers = &K.Numbers;
    }
  const std::vector<size_t> Depths = depthsOf(Spec.Sizes, [&](ir::Key K) {
    const bool IsInner =
        K.Id == ir::KeyId::SweepAxis && AxisKeys[K.Block].Inner;
    return IsInner ? *AxisKeys[K.Block].Inner + 1 : 0;
  });
  size_t Depth = 0; // of this condition and those before
  for (const size_t C : AxisConditions) {
    Depth = std::max(Depth, Depths[Spec.Conditions[C].Holds.Index]);
    Spans.push_back(spanAt(P, Depth));
  }
  for (const Formulas *F : {&OfPoints, &Measures})
    for (const ir::ExprCode::Leaf &L : F->leaves())
      if (L.Key.Id != ir::KeyId::SweepAxis &&
          L.Key.Id != ir::KeyId::SweepMetric && !is_contained(JobKeys, L.Key))
        JobKeys.push_back(L.Key);
  // An axis that a condition or a metric reads does something.
  for (const Formulas *F : {&OfAxes, &OfPoints, &Measures})
    for (const ir::ExprCode::Leaf &L : F->leaves())
      if (L.Key.Id == ir::KeyId::SweepAxis && AxisKeys[L.Key.Block].Inner)
        Reads[*AxisKeys[L.Key.Block].Inner] = true;
}

/// Fills \p Column with the values of an axis key at some rows of a block.
void PointFilter::fillAxis(const AxisKey &K, ArrayRef<uint32_t> Rows,
                           MutableArrayRef<int64_t> Column) const {
  for (const auto &[I, Row] : enumerate(Rows))
    Column[I] = (*K.Numbers)[K.Inner ? Block.Positions[*K.Inner][Row]
                                     : Block.OuterPositions[K.Outer]];
}

void PointFilter::exclude(std::vector<uint32_t> &Rows) {
  if (OfAxes.empty() || Rows.empty())
    return;
  OfAxes.run(Rows.size(), [&](ir::Key K, MutableArrayRef<int64_t> Column) {
    fillAxis(AxisKeys[K.Block], Rows, Column);
  });
  size_t NumLeft = 0;
  for (size_t I = 0; I < Rows.size(); ++I) {
    const size_t F = firstUnmet(OfAxes, I);
    if (F == OfAxes.size())
      Rows[NumLeft++] = Rows[I];
    else
      addRejected(Unmet[AxisConditions[F]], Block.Ids[Rows[I]]);
  }
  Rows.resize(NumLeft);
}

/// Returns whether the jobs of \p Rows lack a metric that the sweep reads.
bool PointFilter::rejectLacking(ArrayRef<uint32_t> Rows, CopyFigure Copy) {
  for (const auto &[Metric, Of] : zip_equal(MetricsRead, Lacking)) {
    int64_t First;
    Copy(Metric, uint32_t(0), First);
    if (First != ir::NoValue)
      continue;
    for (const uint32_t Row : Rows)
      addRejected(Of, Block.Ids[Row]);
    return true;
  }
  return false;
}

/// Returns new rows at the end of \p Column.
static MutableArrayRef<int64_t> addRows(std::vector<int64_t> &Column,
                                        size_t Count) {
  Column.resize(Column.size() + Count, ir::NoValue);
  return MutableArrayRef(Column).take_back(Count);
}

/// Copies the figures of time of the \p Rows that fit, for which \p Fits is not
/// 0.
void PointFilter::copyTimes(ArrayRef<uint32_t> Rows, ArrayRef<int64_t> Fits,
                            CopyFigure Copy, Tally &Out) {
  SmallVector<uint32_t, PointBlock::Size> Fitting;
  for (const auto &[Row, DoesFit] : zip_equal(Rows, Fits))
    if (DoesFit != 0)
      Fitting.push_back(Row);
  std::vector<int64_t> Times(Fitting.size());
  for (size_t M = 0; M < allFigures().size(); ++M) {
    if (!isOfTime(static_cast<FigureId>(M)))
      continue;
    Copy(M, Fitting, Times);
    const MutableArrayRef<int64_t> Into = addRows(Out.Metrics[M], Rows.size());
    for (size_t I = 0, Next = 0; I < Rows.size(); ++I)
      if (Fits[I] != 0)
        Into[I] = Times[Next++];
  }
}

void PointFilter::accept(ArrayRef<uint32_t> Rows, CopyFigure Copy, Tally &Out) {
  const size_t NumMetrics = allFigures().size();
  const auto All = to_vector(seq<uint32_t>(0, Rows.size()));
  auto Fill = [&](ir::Key K, MutableArrayRef<int64_t> Column) {
    if (K.Id == ir::KeyId::SweepAxis)
      return fillAxis(AxisKeys[K.Block], Rows, Column);
    const size_t Result =
        K.Id == ir::KeyId::SweepMetric
            ? K.Block
            : NumMetrics +
                  static_cast<size_t>(find(JobKeys, K) - JobKeys.begin());
    Copy(Result, All, Column);
  };
  if (Rows.empty() || rejectLacking(Rows, Copy))
    return;
  for (Formulas *F : {&OfPoints, &Measures})
    if (!F->empty())
      F->run(Rows.size(), Fill);
  SmallVector<uint32_t, PointBlock::Size> Wanted;
  for (const uint32_t I : All) {
    const size_t C = firstUnmet(OfPoints, I);
    size_t M = 0;
    while (M < Measures.size() && Measures.value(M, I) != ir::NoValue)
      ++M;
    if (C != OfPoints.size())
      addRejected(Unmet[PointConditions[C]], Block.Ids[Rows[I]]);
    else if (M != Measures.size())
      addRejected(Missing[M], Block.Ids[Rows[I]]);
    else
      Wanted.push_back(I);
  }
  Out.NumAccepted += static_cast<int64_t>(Wanted.size());
  for (const size_t I : Wanted)
    Out.Accepted.push_back(Block.Ids[Rows[I]]);
  for (size_t M = 0; M < NumMetrics; ++M)
    if (!LeavesUnfit || !isOfTime(static_cast<FigureId>(M)))
      Copy(M, Wanted, addRows(Out.Metrics[M], Wanted.size()));
  const auto Fits =
      to_vector(ArrayRef(Out.Metrics[static_cast<size_t>(FigureId::Fits)])
                    .take_back(Wanted.size()));
  Out.NumUnfit += count(Fits, 0);
  if (LeavesUnfit)
    copyTimes(Wanted, Fits, Copy, Out);
  for (size_t M = NumMetrics; M < Out.Metrics.size(); ++M)
    for (const size_t I : Wanted)
      Out.Metrics[M].push_back(Measures.value(M - NumMetrics, I));
}

int64_t PointFilter::prune(int64_t First, int64_t Last, int64_t Id) {
  if (OfAxes.empty())
    return 0;
  OfAxes.run(1, [&](ir::Key K, MutableArrayRef<int64_t> Column) {
    const AxisKey &A = AxisKeys[K.Block];
    Column[0] = (*A.Numbers)[A.Inner ? P.positionAt(First, *A.Inner)
                                     : Block.OuterPositions[A.Outer]];
  });
  const size_t F = firstUnmet(OfAxes, 0);
  if (F == OfAxes.size())
    return 0;
  const int64_t Count = std::min(Last - First, Spans[F] - First % Spans[F]);
  addRejected(Unmet[AxisConditions[F]], Id, Count);
  return Count;
}

void PointFilter::flush(Tally &Out) {
  for (const auto &[C, Of] : zip_equal(Spec.Conditions, Unmet))
    moveRejections({diag::WhereFailed, C.Text}, Of, Out);
  for (const auto &[M, Of] : zip_equal(Spec.Metrics, Missing))
    moveRejections({diag::MetricWithoutValue, M.Name}, Of, Out);
  for (const auto &[M, Of] : zip_equal(MetricsRead, Lacking))
    moveRejections({diag::MetricMissing, allFigures()[M].Name}, Of, Out);
}

} // namespace foretrace::sweep
