// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Worker.h"
#include "analysis/Figures.h"
#include "ir/model/SpecKeys.h"
#include "lang/diagnostics/Lang.h"
#include "passes/PassManager.h"
#include "tools/sweep/Verdict.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace foretrace::sweep {

Worker::Worker(const Sweep &S, const AxisOrder &P)
    : S(S), P(P), Block(P), Filter(S, P, Block),
      Passes(pipelineFor(factsOfMetrics(S.Space.spec()))),
      HasEffect(P.Inner.size()) {}

/// Reads the job of a combination of the outer axes; the inner ones are stated,
/// with whatever value.
void Worker::read(int64_t OuterPoint) {
  // A session keeps the text of every -D.
  constexpr unsigned MaxReads = 1024;
  if (!Session || ++Reads > MaxReads) {
    Session = std::make_unique<Compiler>(PassRunner(), S.Files);
    Reads = 0;
    FirstUnread = 1;
  }
  Structures.clear();
  Timer = PipelineTimer();
  Outer = OuterPoint;
  Origin = originOf(OuterPoint);
  FrontendOptions Options = S.Options;
  for (size_t I = P.Outer.size(); I-- > 0;) {
    const auto Values = static_cast<int64_t>(P.Outer[I].Size);
    Block.OuterPositions[I] = static_cast<size_t>(OuterPoint % Values);
    OuterPoint /= Values;
    appendOverrides(S.Space.axes()[P.Outer[I].Axis], Block.OuterPositions[I],
                    Options.Overrides);
  }
  for (const OrderedAxis &Of : P.Inner)
    appendOverrides(S.Space.axes()[Of.Axis], 0, Options.Overrides);
  CompiledJob &Job =
      Session->read(S.Job, std::move(Options), S.Diags.cloneEmpty());
  Read.merge(filesRead(*Session, FirstUnread));
  FirstUnread = Session->sources().forRenderer().getNumBuffers() + 1;
  Refused.reset();
  if (const ir::Spec *Stated = Job.spec()) {
    if (!Base || !isSplitAlike(*Base, *Stated))
      Splits = std::make_shared<StageSplits>();
    Base = *Stated;
  } else {
    Base.reset();
    Refused = RejectionCause{Job.engine().firstError()->Id, ""};
  }
  Session->forget(Job);
}

int64_t Worker::originOf(int64_t OuterPoint) const {
  int64_t Least = 0;
  for (const OrderedAxis &Of : reverse(P.Outer)) {
    const auto Values = static_cast<int64_t>(Of.Size);
    Least += OuterPoint % Values * S.Space.stride(Of.Axis);
    OuterPoint /= Values;
  }
  return Least;
}

int64_t Worker::pointAt(int64_t InnerPoint) const {
  int64_t Point = Origin;
  for (size_t I = 0; I < P.Inner.size(); ++I)
    Point += static_cast<int64_t>(P.positionAt(InnerPoint, I)) *
             S.Space.stride(P.Inner[I].Axis);
  return Point;
}

/// Adds points to the batch that is evaluated together, which is not yet full.
void Worker::append(int64_t First, size_t Count) {
  const size_t Begin = Left.size(), End = Begin + Count;
  for (size_t Row = Begin; Row < End; ++Row) {
    Left.push_back(static_cast<uint32_t>(Row));
    Block.Ids[Row] = Origin;
  }
  for (size_t I = 0; I < P.Inner.size(); ++I) {
    const auto Values = static_cast<uint32_t>(P.Inner[I].Size);
    const int64_t Span = P.Spans[I], Stride = S.Space.stride(P.Inner[I].Axis);
    auto At = static_cast<uint32_t>(P.positionAt(First, I));
    for (size_t Row = Begin; Row < End;) {
      const int64_t Alike =
          Row == Begin ? Span - First % Span : Span; // of the same value
      const size_t Until = static_cast<size_t>(std::min(
          static_cast<int64_t>(End), static_cast<int64_t>(Row) + Alike));
      for (; Row < Until; ++Row) {
        Block.Positions[I][Row] = At;
        Block.Ids[Row] += At * Stride;
      }
      At = At + 1 == Values ? 0 : At + 1;
    }
  }
}

/// Asks \p K about the rows that have no verdict yet.
void Worker::ask(Known &K) {
  for (const auto &[Axis, Of] : enumerate(P.Inner))
    for (const auto &[Index, Key] : enumerate(Of.Keys)) {
      const MutableArrayRef<int64_t> Column = K.Columns.column(Key);
      if (Column.empty())
        continue;
      HasEffect[Axis] = true;
      const std::vector<int64_t> &Numbers =
          S.Space.axes()[Of.Axis].Keys[Index].Numbers;
      for (const auto &[I, Row] : enumerate(Left))
        Column[I] = Numbers[Block.Positions[Axis][Row]];
    }
  K.Columns.run(Left.size());
  SmallVector<uint32_t, BlockSize> Accepted, Rows;
  size_t NumLeft = 0;
  for (size_t I = 0; I < Left.size(); ++I) {
    const uint32_t Row = Left[I];
    switch (K.Columns.verdict(I)) {
    case Verdict::Accepted:
      Accepted.push_back(static_cast<uint32_t>(I));
      Rows.push_back(Row);
      break;
    case Verdict::Rejected:
      addRejected(K.Violated[K.Columns.violated(I)], Block.Ids[Row]);
      break;
    case Verdict::Overflow:
      addRejected(K.Overflow, Block.Ids[Row]);
      break;
    case Verdict::Foreign:
      Left[NumLeft++] = Row;
      break;
    }
  }
  Left.resize(NumLeft);
  auto isOfRow = [&](size_t Result) {
    return K.Times && Result < allFigures().size() && S.times(Result) &&
           isOfJobAlone(FigureId(Result), K.Of.program());
  };
  Filter.accept(
      Rows,
      [&](size_t Result, ArrayRef<uint32_t> Of, MutableArrayRef<int64_t> Into) {
        if (isOfRow(Result))
          time(K, Rows, Of);
        for (const auto &[To, I] : zip(Into, Of))
          To = isOfRow(Result)   ? Times.find(Rows[I])->second[Result]
               : K.Lacks[Result] ? ir::NoValue
                                 : K.Columns.figure(Accepted[I], Result);
      },
      Out);
}

/// Returns the numbers of inner axes at a position of each.
std::vector<StructureTimes::Number>
Worker::numbersAt(function_ref<size_t(size_t)> Position) const {
  std::vector<StructureTimes::Number> All;
  for (const auto &[Axis, Of] : enumerate(P.Inner))
    for (const auto &[Index, Key] : enumerate(Of.Keys))
      All.emplace_back(
          Key, S.Space.axes()[Of.Axis].Keys[Index].Numbers[Position(Axis)]);
  return All;
}

/// Returns those at a row of the block.
std::vector<StructureTimes::Number> Worker::numbersAt(size_t Row) const {
  return numbersAt([&](size_t Axis) { return Block.Positions[Axis][Row]; });
}

/// Returns the job of a row of the block, as stated.
ir::Program Worker::jobAt(size_t Row) const {
  ir::Program Job;
  Job.Spec = *Base;
  for (const auto &[Key, Value] : numbersAt(Row)) {
    Located<int64_t> &F = *findField(Job.Spec, Key);
    F.state(Value, F.Range);
  }
  return Job;
}

/// Computes the figures of time at the rows \p Of of \p Rows.
void Worker::time(Known &K, ArrayRef<uint32_t> Rows, ArrayRef<uint32_t> Of) {
  std::vector<uint32_t> Open;
  std::vector<std::vector<StructureTimes::Number>> Jobs;
  for (const uint32_t I : Of)
    if (Times.try_emplace(Rows[I]).second) {
      Open.push_back(Rows[I]);
      Jobs.push_back(numbersAt(Rows[I]));
    }
  auto IsWanted = [&](size_t M) { return S.times(M); };
  for (auto [Row, Found] :
       zip_equal(Open, K.Times->figures(Jobs, Timer, IsWanted)))
    Times[Row] = std::move(Found);
}

/// Compiles the first row without a verdict, and asks its structure about all;
/// if it has none, the compiler's verdict is that of this row alone.
void Worker::compile(size_t Row) {
  ir::Program Job = jobAt(Row);
  DiagnosticEngine Diags = S.Diags.cloneForTrial();
  const bool IsLegal = runPasses(Job, Passes, Diags, {}) && !Diags.hasErrors();
  const size_t Before = Left.size();
  std::optional<Structure> Found = Structure::of(Job);
  // No check says why an illegal job with all totals has no time.
  if (Found && !IsLegal && !Found->isRefusal())
    Found.reset();
  if (Found) {
    if (Structures.size() == MaxStructures) {
      flush();
      Structures.pop_back();
    }
    Structures.insert(Structures.begin(),
                      std::make_unique<Known>(std::move(*Found), S, P,
                                              Filter.jobKeys(), Splits,
                                              Columns));
    if (IsLegal &&
        (readsTime(S.Space.spec()) || isOfJobAlone(FigureId::CrossNode, Job)))
      Structures.front()->Times = std::make_unique<StructureTimes>(Job, Splits);
    ask(*Structures.front());
  }
  if (Left.size() != Before)
    return;
  const auto First = static_cast<uint32_t>(Row);
  Left.erase(Left.begin());
  if (!IsLegal) {
    addRejected(Out.Rejected[{Diags.firstError()->Id, ""}], Block.Ids[First]);
    return;
  }
  HasEffect.assign(HasEffect.size(),
                   true); // only a structure says which axes matter
  const std::vector<std::optional<ir::ExprId>> Figures =
      figuresIn(Job, S, Filter.jobKeys(), Validity::ThisJob);
  if (any_of(Figures, [&](std::optional<ir::ExprId> F) {
        return F && Job.Sizes.value(*F) == ir::NoValue;
      }))
    return addRejected(Out.Rejected[{diag::SizeOverflow, ""}],
                       Block.Ids[First]);
  Filter.accept(
      First,
      [&](size_t Result, ArrayRef<uint32_t>, MutableArrayRef<int64_t> Into) {
        for (int64_t &To : Into) // none if a condition leaves the row out
          To =
              Figures[Result] ? Job.Sizes.value(*Figures[Result]) : ir::NoValue;
      },
      Out);
}

/// Gives all points that were appended a verdict.
void Worker::settle() {
  Times.clear();
  Filter.exclude(Left);
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

/// Returns the number of points from \p First on that one check rejects alike,
/// as it does not depend on the axes that change among them. They are counted.
int64_t Worker::prune(int64_t First, int64_t Last) {
  if (const int64_t Count = Filter.prune(First, Last, pointAt(First)))
    return Count;
  const std::vector<StructureTimes::Number> Job =
      numbersAt([&](size_t Axis) { return P.positionAt(First, Axis); });
  for (const std::unique_ptr<Known> &K : Structures) {
    for (const auto &[Key, Value] : Job)
      K->Row.set(Key, Value);
    const Verdict V = K->Row.check();
    if (V == Verdict::Foreign)
      continue;
    if (V != Verdict::Rejected)
      return 0;
    const int64_t Span = K->Spans[K->Row.violated()];
    const int64_t Count = std::min(Last - First, Span - First % Span);
    addRejected(K->Violated[K->Row.violated()], pointAt(First), Count);
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
  for (const std::unique_ptr<Known> &K : Structures) {
    const ir::Program &P = K->Of.program();
    for (const auto &[Index, C] : enumerate(P.Checks))
      moveRejections({C.Reported, C.Blamed ? nameOf(P.Spec, *C.Blamed) : ""},
                     K->Violated[Index], Out);
    moveRejections({diag::SizeOverflow, ""}, K->Overflow, Out);
  }
  Filter.flush(Out);
}

Tally Worker::run(int64_t First, int64_t Count) {
  Out = Tally();
  Out.Metrics.resize(allFigures().size() + S.Space.spec().Metrics.size());
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
      addRejected(Out.Rejected[*Refused], pointAt(Inner), OfJob);
    First += OfJob;
  }
  flush();
  Out.Files = std::exchange(Read, {});
  for (const auto &[Index, Of] : enumerate(P.Inner))
    if (HasEffect[Index] || Filter.reads(Index))
      Out.Effective.push_back(Of.Axis);
  return std::move(Out);
}

} // namespace foretrace::sweep
