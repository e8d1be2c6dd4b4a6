// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Worker.h"
#include "ir/SpecKeys.h"
#include "passes/PassManager.h"
#include "passes/analyses/Metrics.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace foretrace::sweep {

/// By expression of \p T: after which inner axis, from 1, nothing counts any
/// more; 0 if none does.
static std::vector<size_t> depthsOf(const ir::ExprTable &T, const Plan &P) {
  std::vector<size_t> Depths;
  for (const ir::ExprNode &N : T) {
    size_t &Depth = Depths.emplace_back(0);
    for (const ir::ExprId Operand : {N.Left, N.Right})
      if (Operand.isValid())
        Depth = std::max(Depth, Depths[Operand.Index]);
    if (N.Op == ir::ExprOp::Key && !N.Left.isValid())
      for (const auto &[Index, I] : enumerate(P.Inner))
        if (I.Key == N.Key)
          Depth = Index + 1;
  }
  return Depths;
}

Worker::Known::Known(Structure Made, const Plan &P,
                     std::shared_ptr<StageSplits> Splits)
    : Of(std::move(Made)), Columns(Of, Of.metrics(), Splits),
      Row(Of, Of.metrics(), std::move(Splits)),
      Violated(Of.program().Checks.size()) {
  const std::vector<size_t> Depths = depthsOf(Of.program().Sizes, P);
  size_t Depth = 0; // of this check and those before
  for (const ir::Check &C : Of.program().Checks) {
    Depth = std::max(Depth, Depths[C.Of.Index]);
    Spans.push_back(Depth == 0 ? P.InnerSize : P.Spans[Depth - 1]);
  }
}

Worker::Worker(const Sweep &S, const Plan &P)
    : S(S), P(P), Indices(P.Inner.size()) {}

static void add(Rejection &To, int64_t Point, int64_t Count = 1) {
  To.Count += Count;
  To.Example = std::min(To.Example, Point);
}

/// What is reported first.
static diag::Id firstError(ArrayRef<Diagnostic> Diags) {
  return find_if(Diags,
                 [](const Diagnostic &D) { return D.Level == Severity::Error; })
      ->Id;
}

/// Splits are kept by their numbers: only whether these are there counts.
static bool isAlike(const Located<int64_t> &A, const Located<int64_t> &B) {
  return A.isPresent() == B.isPresent();
}
template <typename T>
static bool isAlike(const Located<T> &A, const Located<T> &B) {
  return A.isPresent() == B.isPresent() && A.Value == B.Value;
}

/// Whether jobs of the same numbers are split over stages in the same way.
static bool isSplitAlike(const ir::Spec &A, const ir::Spec &B) {
#define PARALLEL_FIELD(TYPE, MEMBER, ...)                                      \
  if (!isAlike(A.Parallel.MEMBER, B.Parallel.MEMBER))                          \
    return false;
#include "ir/Spec.def"
  auto AreAlike = [](const auto &X, const auto &Y, auto IsSame) {
    return X.size() == Y.size() && all_of(zip(X, Y), [&](const auto &Pair) {
             return IsSame(std::get<0>(Pair), std::get<1>(Pair));
           });
  };
  return A.Parallel.Steps.empty() && B.Parallel.Steps.empty() &&
         A.Model.Blocks.size() == B.Model.Blocks.size() &&
         AreAlike(
             A.Parallel.Layout, B.Parallel.Layout,
             [](const auto &X, const auto &Y) { return X.Value == Y.Value; }) &&
         AreAlike(A.Model.Layers, B.Model.Layers,
                  [&](const ir::LayerRun &X, const ir::LayerRun &Y) {
                    return X.Periods == Y.Periods &&
                           AreAlike(X.Items, Y.Items,
                                    [](const auto &I, const auto &J) {
                                      return I.Block == J.Block &&
                                             I.Count == J.Count;
                                    });
                  });
}

/// Reads the job of a combination of the outer axes; the inner ones are stated,
/// with whatever value.
void Worker::read(int64_t OuterPoint) {
  // A session keeps the text of every -D.
  constexpr unsigned MaxReads = 1024;
  if (!Session || ++Reads > MaxReads) {
    Session = std::make_unique<Compiler>();
    Reads = 0;
  }
  Structures.clear();
  Outer = OuterPoint;
  Origin = originOf(OuterPoint);
  FrontendOptions Options = S.Options;
  for (const Step &Of : reverse(P.Outer)) {
    const Axis &A = S.Space.axes()[Of.Axis];
    const auto Values = static_cast<int64_t>(A.Values.size());
    Options.Overrides.push_back(
        A.Name + "=" + A.Values[static_cast<size_t>(OuterPoint % Values)]);
    OuterPoint /= Values;
  }
  for (const Step &Of : P.Inner)
    Options.Overrides.push_back(S.Space.axes()[Of.Axis].Name + "=" +
                                std::to_string(Of.Values.front()));
  CompiledJob &Job =
      Session->read(S.Job, std::move(Options), S.Diags.cloneEmpty());
  Refused.reset();
  if (const ir::Spec *Stated = Job.spec()) {
    if (!Base || !isSplitAlike(*Base, *Stated))
      Splits = std::make_shared<StageSplits>();
    Base = *Stated;
  } else {
    Base.reset();
    Refused = Reason{firstError(Job.diagnostics()), ""};
  }
  Session->forget(Job);
}

int64_t Worker::originOf(int64_t OuterPoint) const {
  int64_t Least = 0;
  for (const Step &Of : reverse(P.Outer)) {
    const auto Values =
        static_cast<int64_t>(S.Space.axes()[Of.Axis].Values.size());
    Least += OuterPoint % Values * S.Space.stride(Of.Axis);
    OuterPoint /= Values;
  }
  return Least;
}

int64_t Worker::pointAt(int64_t InnerPoint) const {
  int64_t Point = Origin;
  for (size_t I = 0; I < P.Inner.size(); ++I)
    Point += static_cast<int64_t>(indexAt(InnerPoint, I)) *
             S.Space.stride(P.Inner[I].Axis);
  return Point;
}

/// Adds points to those that are evaluated together, of which there are fewer
/// than a block.
void Worker::append(int64_t First, size_t Count) {
  const size_t Begin = Left.size(), End = Begin + Count;
  for (size_t Row = Begin; Row < End; ++Row) {
    Left.push_back(static_cast<uint32_t>(Row));
    Points[Row] = Origin;
  }
  for (size_t I = 0; I < P.Inner.size(); ++I) {
    const auto Values = static_cast<uint32_t>(P.Inner[I].Values.size());
    const int64_t Span = P.Spans[I], Stride = S.Space.stride(P.Inner[I].Axis);
    auto At = static_cast<uint32_t>(indexAt(First, I));
    for (size_t Row = Begin; Row < End;) {
      const int64_t Alike =
          Row == Begin ? Span - First % Span : Span; // of the same value
      const size_t Until = static_cast<size_t>(std::min(
          static_cast<int64_t>(End), static_cast<int64_t>(Row) + Alike));
      for (; Row < Until; ++Row) {
        Indices[I][Row] = At;
        Points[Row] += At * Stride;
      }
      At = At + 1 == Values ? 0 : At + 1;
    }
  }
}

/// Asks \p K about the rows that have no verdict yet.
void Worker::ask(Known &K) {
  for (const auto &[Axis, Of] : enumerate(P.Inner)) {
    const MutableArrayRef<int64_t> Column = K.Columns.column(Of.Key);
    if (Column.empty())
      continue;
    for (const auto &[I, Row] : enumerate(Left))
      Column[I] = Of.Values[Indices[Axis][Row]];
  }
  K.Columns.run(Left.size());
  std::array<uint32_t, BlockSize> Accepted;
  size_t NumAccepted = 0, NumLeft = 0;
  for (size_t I = 0; I < Left.size(); ++I) {
    const uint32_t Row = Left[I];
    switch (K.Columns.verdict(I)) {
    case Verdict::Accepted:
      Accepted[NumAccepted++] = static_cast<uint32_t>(I);
      Out.Accepted.push_back(Points[Row]);
      break;
    case Verdict::Rejected:
      add(K.Violated[K.Columns.violated(I)], Points[Row]);
      break;
    case Verdict::Overflow:
      add(K.Overflow, Points[Row]);
      break;
    case Verdict::Foreign:
      Left[NumLeft++] = Row;
      break;
    }
  }
  Left.resize(NumLeft);
  for (size_t M = 0; NumAccepted != 0 && M < Out.Metrics.size(); ++M)
    for (size_t I = 0; I < NumAccepted; ++I)
      Out.Metrics[M].push_back(K.Columns.figure(Accepted[I], M));
}

/// By the figures of a program.
void Worker::accept(ir::Program &P, int64_t Point) {
  const std::vector<ir::ExprId> Metrics = metricsOf(P);
  if (any_of(Metrics,
             [&](ir::ExprId M) { return P.Sizes.value(M) == ir::NoValue; }))
    return add(Out.Rejected[{diag::SizeOverflow, ""}], Point);
  Out.Accepted.push_back(Point);
  for (const auto &[Of, M] : zip_equal(Out.Metrics, Metrics))
    Of.push_back(P.Sizes.value(M));
}

/// Compiles the first row without a verdict, and asks its structure about all;
/// if it has none, the compiler's verdict is that of this row alone.
void Worker::compile(size_t Row) {
  ir::Program Job;
  Job.Spec = *Base;
  for (const auto &[Axis, Of] : enumerate(P.Inner)) {
    Located<int64_t> &F = *findField(Job.Spec, Of.Key);
    F.state(Of.Values[Indices[Axis][Row]], F.Range);
  }
  DiagnosticEngine Diags = S.Diags.cloneEmpty();
  const bool IsLegal =
      runPasses(Job, pipelineFor({ir::Fact::Totalled}), Diags, {}) &&
      !Diags.hasErrors();
  const size_t Before = Left.size();
  if (std::optional<Structure> Found = Structure::of(Job)) {
    if (Structures.size() == MaxStructures) {
      flush();
      Structures.pop_back();
    }
    Structures.insert(Structures.begin(),
                      std::make_unique<Known>(std::move(*Found), P, Splits));
    ask(*Structures.front());
  }
  if (Left.size() != Before)
    return;
  Left.erase(Left.begin());
  if (IsLegal)
    accept(Job, Points[Row]);
  else
    add(Out.Rejected[{firstError(Diags.diagnostics()), ""}], Points[Row]);
}

/// Gives all points that were appended a verdict.
void Worker::settle() {
  for (size_t I = 0; I < Structures.size() && !Left.empty(); ++I) {
    const size_t Before = Left.size();
    ask(*Structures[I]);
    if (Left.size() != Before) // the next ones are likely like these
      std::rotate(Structures.begin(),
                  Structures.begin() + static_cast<ptrdiff_t>(I),
                  Structures.begin() + static_cast<ptrdiff_t>(I) + 1);
  }
  while (!Left.empty())
    compile(Left.front());
}

/// How many points from \p First on are rejected alike, by a check for which
/// the axes that change among them do not count. They are counted.
int64_t Worker::prune(int64_t First, int64_t Last) {
  for (const std::unique_ptr<Known> &K : Structures) {
    for (size_t I = 0; I < P.Inner.size(); ++I)
      K->Row.set(P.Inner[I].Key, P.Inner[I].Values[indexAt(First, I)]);
    const Verdict V = K->Row.run();
    if (V == Verdict::Foreign)
      continue;
    if (V != Verdict::Rejected)
      return 0;
    const int64_t Span = K->Spans[K->Row.violated()];
    const int64_t Count = std::min(Last - First, Span - First % Span);
    add(K->Violated[K->Row.violated()], pointAt(First), Count);
    return Count;
  }
  return 0;
}

/// Points of the job that was read. Those that are not pruned are evaluated in
/// blocks, of parts that prune looked at.
void Worker::evaluate(int64_t First, int64_t Last) {
  int64_t Part = 1;
  for (const int64_t Span : P.Spans)
    if (Span <= static_cast<int64_t>(BlockSize))
      Part = std::max(Part, Span);
  while (First < Last) {
    if (const int64_t Pruned = prune(First, Last)) {
      First += Pruned;
      continue;
    }
    const int64_t Count = std::min(Last - First, Part - First % Part);
    if (Left.size() + static_cast<size_t>(Count) > BlockSize)
      settle();
    append(First, static_cast<size_t>(Count));
    First += Count;
  }
  settle();
}

/// Puts what structures counted into the tally.
void Worker::flush() {
  auto Merge = [&](Reason Why, Rejection &Of) {
    if (Of.Count == 0)
      return;
    Rejection &To = Out.Rejected[std::move(Why)];
    To.Count += Of.Count;
    To.Example = std::min(To.Example, Of.Example);
    Of = {};
  };
  for (const std::unique_ptr<Known> &K : Structures) {
    const ir::Program &P = K->Of.program();
    for (const auto &[Index, C] : enumerate(P.Checks))
      Merge({C.Reported, C.Blamed ? nameOf(P.Spec, *C.Blamed) : ""},
            K->Violated[Index]);
    Merge({diag::SizeOverflow, ""}, K->Overflow);
  }
}

Tally Worker::run(int64_t First, int64_t Count) {
  Out = Tally();
  Out.Metrics.resize(allMetrics().size());
  for (const int64_t Last = First + Count; First < Last;) {
    const int64_t OuterPoint = First / P.InnerSize;
    if (OuterPoint != Outer) {
      flush();
      read(OuterPoint);
    }
    const int64_t Inner = First % P.InnerSize;
    const int64_t OfJob = std::min(Last - First, P.InnerSize - Inner);
    if (Base)
      evaluate(Inner, Inner + OfJob);
    else
      add(Out.Rejected[*Refused], pointAt(Inner), OfJob);
    First += OfJob;
  }
  flush();
  return std::move(Out);
}

} // namespace foretrace::sweep
