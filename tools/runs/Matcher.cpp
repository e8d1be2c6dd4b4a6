// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/Matcher.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::megatron;
using namespace foretrace::runs;
using llvm::StringRef;
using llvm::Twine;

static StringRef orNone(StringRef Text) { return Text.empty() ? "None" : Text; }

Matcher::Matcher(llvm::ArrayRef<TraceRow> Rows, int64_t Rank, SourceRange Order,
                 int64_t MaxReceived, Reporter Report)
    : Rows(Rows), Rank(Rank), Order(Order), MaxReceived(MaxReceived),
      Report(std::move(Report)), Lines(Rows.size()),
      Clock([this](int64_t Line, StringRef Op, std::string Text) {
        this->Report({Line, diag::RunTime, std::move(Text), {}, Op.str()});
      }) {
  for (size_t I = 0; I < Rows.size(); ++I)
    Places[static_cast<unsigned>(Rows[I].Body->Kind)].push_back(I);
}

/// Returns null for no group.
static const ir::ProcessGroup *processGroupOf(std::optional<GroupKind> Group) {
  return Group ? &processGroup(*Group) : nullptr;
}

void Matcher::goTo(size_t Index, std::optional<GroupKind> Group) {
  Here.Op = getName(Rows[Index].Body->Kind).str();
  Here.Group = processGroupOf(Group);
  Here.Place = static_cast<size_t>(Iterations) * Rows.size() + Index;
}

void Matcher::report(diag::Id Kind, const Twine &Text, SourceRange Why,
                     StringRef Expected, StringRef Seen) {
  Divergence D = Here;
  D.Kind = Kind;
  D.Text = Text.str();
  D.Why = Why;
  D.Expected = Expected.str();
  D.Seen = Seen.str();
  Report(std::move(D));
}

void Matcher::reportNumbers(diag::Id Kind, const Twine &Text, SourceRange Why,
                            int64_t Expected, int64_t Seen) {
  Here.ExpectedNumbers = {Expected};
  Here.SeenNumbers = {Seen};
  report(Kind, Text, Why, std::to_string(Expected), std::to_string(Seen));
  Here.ExpectedNumbers.clear();
  Here.SeenNumbers.clear();
}

std::string Matcher::name(const TraceRow &R) const {
  return ("`" + getName(R.Body->Kind) + "` " + Twine(R.Batch)).str();
}

void Matcher::startIteration() {
  Early.reset();
  Lines.assign(Rows.size(), 0);
  Next = 0;
  Before = LastLine;
  Unread.erase(Unread.begin(), Unread.upper_bound(Before));
  Forward.clear();
}

/// Reports a missing row at the place where it should be: below the one that it
/// follows.
void Matcher::endIteration() {
  int64_t Above = Before;
  for (size_t I = 0; I < Rows.size(); ++I) {
    if (Lines[I] > 0) {
      Above = std::max(Above, Lines[I]);
      continue;
    }
    if (Unread.count(Above + 1) > 0) { // told as such
      ++Above;
      continue;
    }
    goTo(I, Rows[I].Body->Group);
    Here.Line = Above + 1;
    report(diag::RunMissingRow,
           name(Rows[I]) +
               (I == 0 ? Twine(" is missing at the start")
                       : " is missing after " + Twine(name(Rows[I - 1]))),
           Order);
  }
  Begins.push_back(Before + 1);
  ++Iterations;
}

/// Returns whether a row belongs to the next iteration: it is one of the first,
/// and this iteration is nearly over if it has such a row already, else
/// completely. A row later than all before it is neither a copy nor late, so
/// more rows may be missing in between.
bool Matcher::beginsAgain(size_t Index, const SeenRow &Seen) const {
  constexpr size_t Few = 2, Many = 8;
  const size_t Left = Rows.size() - Next;
  const bool WasThere = Lines[Index] > 0;
  if (WasThere && Index <= Few && Left <= Few)
    return true;
  const size_t Slack = std::max(Few, std::min(Many, Rows.size() / 4));
  return Index <= Slack && Left <= (WasThere ? Slack : 0) &&
         Clock.isAfterAll(Seen);
}

void Matcher::take(const SeenRow &Seen, int64_t Line) {
  ++Taken;
  goTo(std::min(Next, Rows.size() - 1), findGroupKind(Seen.GroupKind));
  Here.Line = Line;
  Here.Op = Seen.Op.str();
  if (Seen.Rank != Rank)
    reportNumbers(diag::RunRankNumber,
                  "a row of rank " + Twine(Seen.Rank) +
                      " in the trace of rank " + Twine(Rank),
                  {}, Rank, Seen.Rank);
  const std::optional<RowKind> Kind = findRowKind(Seen.Op);
  if (!Kind || Places[static_cast<unsigned>(*Kind)].empty())
    return report(diag::RunUnexpectedRow,
                  "no `" + Seen.Op + "` is expected on this rank", Order);
  const std::vector<size_t> &Of = Places[static_cast<unsigned>(*Kind)];
  if (Seen.Batch >= static_cast<int64_t>(Of.size()))
    return report(diag::RunUnexpectedRow,
                  "`" + Seen.Op + "` " + Twine(Seen.Batch) + " of " +
                      Twine(Of.size()) + " that are expected, from 0",
                  Order);
  const size_t Index = Of[static_cast<size_t>(Seen.Batch)];
  if (beginsAgain(Index, Seen)) {
    endIteration();
    startIteration();
  }
  LastLine = Line;
  const TraceRow &Wanted = Rows[Index];
  goTo(Index, Wanted.Body->Group);
  Here.Line = Line;
  if (Lines[Index] > 0)
    return report(diag::RunDuplicateRow,
                  name(Wanted) + " was there before, in line " +
                      Twine(Lines[Index]),
                  Order);
  checkTime(Wanted, Seen, Index == Next);
  checkOrder(Index, Line);
  Lines[Index] = Line;
  while (Next < Rows.size() && Lines[Next] > 0)
    ++Next;
  compare(Wanted, Seen);
}

/// A row far ahead of its place came early if the trace goes on as if it was
/// absent. Otherwise the rows missing so far come late, or never.
void Matcher::checkOrder(size_t Index, int64_t Line) {
  const bool IsBack = Early && Early->Next <= Index &&
                      Index <= Early->Next + 1 && Index + 1 < Early->Index;
  if (IsBack) {
    goTo(Early->Index, Rows[Early->Index].Body->Group);
    Here.Line = Early->Line;
    report(diag::RunRowOrder,
           name(Rows[Early->Index]) + " comes early; " +
               name(Rows[Early->Next]) + " is expected there",
           Order);
    goTo(Index, Rows[Index].Body->Group);
    Here.Line = Line;
  }
  Early.reset();
  if (IsBack) {
    Next = Index;
  } else if (Index < Next) {
    report(diag::RunRowOrder,
           name(Rows[Index]) + " comes late; it is expected before " +
               name(Rows[Index + 1]),
           Order);
  } else {
    if (Index > Next)
      Early = {Index, Line, Next};
    Next = Index;
  }
}

void Matcher::finish() {
  Clock.finish();
  endIteration();
  Begins.push_back(LastLine + 1);
}

/// Scaling runs make up some rows, which have no time.
void Matcher::checkTime(const TraceRow &Wanted, const SeenRow &Seen,
                        bool IsInOrder) {
  const bool IsMadeUp =
      Wanted.State == RowState::None && readNumber(Seen.Timestamp) == 0.0;
  if (!IsMadeUp)
    Clock.take(Seen, Here.Line, IsInOrder && Wanted.From.isFused());
}

/// Returns whether a text is the shape \p Wanted, with any number of rows R.
static bool isShape(const std::optional<LoggedTensor> &Wanted, StringRef Seen) {
  if (!Wanted)
    return Seen == "None";
  const auto Sizes = readShape(Seen);
  return Sizes && Sizes->size() == Wanted->Extents.size() &&
         llvm::all_of(llvm::zip(Wanted->Extents, *Sizes), [](const auto &Both) {
           const auto &[Planned, Size] = Both;
           return Planned.isReceived() || Planned.size() == Size;
         });
}

static StringRef typeOf(const std::optional<LoggedTensor> &T) {
  return T ? torchType(T->Element) : "None";
}

void Matcher::differ(const Field &F, const Twine &Of) {
  report(F.Kind,
         "`" + F.Key + "` of " + Of + " is " +
             (F.Seen.empty() ? "empty" : F.Seen) + "; expected " +
             (F.Expected.empty() ? "nothing" : F.Expected),
         F.Why, F.Expected, F.Seen);
}

void Matcher::differ(diag::Id Kind, const std::optional<LoggedTensor> &Wanted,
                     StringRef Seen, SourceRange Why, const Twine &Of) {
  if (Wanted)
    for (Extent E : Wanted->Extents)
      Here.ExpectedNumbers.push_back(E.isReceived() ? -1 : E.size());
  if (auto Sizes = readShape(Seen))
    Here.SeenNumbers = std::move(*Sizes);
  const std::string Shape = Wanted ? printShape(Wanted->Extents) : "None";
  differ({Kind, "input__shape", Shape, Seen, Why}, Of);
  Here.ExpectedNumbers.clear();
  Here.SeenNumbers.clear();
}

void Matcher::compare(const TraceRow &Wanted, const SeenRow &Seen) {
  const RowBody &B = *Wanted.Body;
  if (Seen.Stage != Wanted.Stage)
    reportNumbers(diag::RunStageNumber,
                  "`stage_id` of " + name(Wanted) + " is " + Twine(Seen.Stage) +
                      "; expected " + Twine(Wanted.Stage),
                  Order, Wanted.Stage, Seen.Stage);
  const Field Texts[] = {
      {diag::RunState, "mg_state", getName(Wanted.State), Seen.State, Order},
      {diag::RunDescription, "description", orNone(B.Description),
       Seen.Description, B.Why},
      {diag::RunGroupKind, "group_kind", B.Group ? getName(*B.Group) : "None",
       Seen.GroupKind, B.Why}};
  for (const Field &F : Texts)
    if (F.Expected != F.Seen)
      differ(F, name(Wanted));
  if (!isShape(B.Tensor, Seen.Shape))
    differ(diag::RunShape, B.Tensor, Seen.Shape, B.Why, name(Wanted));
  if (typeOf(B.Tensor) != Seen.DType)
    differ(
        {diag::RunDType, "input__dtype", typeOf(B.Tensor), Seen.DType, B.Why},
        name(Wanted));
  compareCalls(Wanted, Seen);
}

static bool isSame(const SubOperation &Wanted, const SeenCall &Seen) {
  return Wanted.Function == Seen.Function && Wanted.Name == Seen.Name &&
         commName(Wanted.Comm) == Seen.Comm;
}

static std::string describeCall(const SubOperation &S) {
  return ("`" + (S.Name.empty() ? S.Function : S.Name) + "`").str();
}

static std::string describeCall(const SeenCall &S) {
  return ("`" + (S.Name.empty() ? S.Function : S.Name) + "`").str();
}

/// Returns how many rows were received, by the shape of a planned call.
static int64_t receivedOf(const LoggedTensor &Planned, StringRef Shape) {
  const auto Sizes = readShape(Shape);
  if (Sizes)
    for (const auto &[Of, Size] : llvm::zip(Planned.Extents, *Sizes))
      if (Of.isReceived())
        return Size;
  return -1;
}

/// Calls have no number, so they are compared in order. A missing or an
/// unexpected call must not make all later calls differ, so both sides look
/// ahead by one.
void Matcher::compareCalls(const TraceRow &Wanted, const SeenRow &Seen) {
  llvm::ArrayRef<SubOperation> Calls = Wanted.Body->SubOperations;
  size_t J = 0; // of Seen.Calls
  std::vector<ReceivedRows> Counts;
  auto IsReceived = [&](size_t I) { return Calls[I].Tensor.isReceived(); };
  auto IsCall = [&](size_t I, size_t At) {
    return I < Calls.size() && At < Seen.Calls.size() &&
           isSame(Calls[I], Seen.Calls[At]);
  };
  auto Unexpected = [&](size_t At) {
    Here.Group = processGroupOf(findGroupKind(Seen.Calls[At].Group));
    report(diag::RunUnexpectedCall,
           "call " + Twine(At) + " of " + name(Wanted) + ", " +
               describeCall(Seen.Calls[At]) + ", is not expected",
           Wanted.Body->Why);
  };
  for (size_t I = 0; I < Calls.size(); ++I) {
    if (!IsCall(I, J) && IsCall(I, J + 1) && !IsCall(I + 1, J))
      Unexpected(J++);
    Here.Group = Calls[I].Ranks;
    const bool IsMissing =
        J >= Seen.Calls.size() || (!IsCall(I, J) && IsCall(I + 1, J));
    if (IsMissing) {
      report(diag::RunMissingCall,
             "call " + Twine(I) + " of " + name(Wanted) + ", " +
                 describeCall(Calls[I]) + ", is missing",
             Calls[I].why());
      if (IsReceived(I))
        Counts.push_back({-1, Here.Line});
      continue;
    }
    compareCall(*Wanted.Body, Calls[I], Seen.Calls[J], I);
    if (IsReceived(I))
      Counts.push_back(
          {receivedOf(Calls[I].Tensor, Seen.Calls[J].Shape), Here.Line});
    ++J;
  }
  for (; J < Seen.Calls.size(); ++J)
    Unexpected(J);
  compareReceived(Wanted, Counts);
}

void Matcher::compareCall(const RowBody &Body, const SubOperation &Wanted,
                          const SeenCall &Seen, size_t Index) {
  const SourceRange Why = Wanted.why();
  auto Of = [&] {
    return ("call " + Twine(Index) + " of `" + getName(Body.Kind) + "`").str();
  };
  const Field Texts[] = {
      {diag::RunCall, "trace_src_func", Wanted.Function, Seen.Function, Why},
      {diag::RunCall, "func_name", Wanted.Name, Seen.Name, Why},
      {diag::RunCall, "comm_func", commName(Wanted.Comm), Seen.Comm, Why},
      {diag::RunCallGroup, "group", getName(Wanted.Group), Seen.Group, Why}};
  for (const Field &F : Texts)
    if (F.Expected != F.Seen)
      differ(F, Of());
  if (!isShape(Wanted.Tensor, Seen.Shape))
    differ(diag::RunCallShape, Wanted.Tensor, Seen.Shape, Why, Of());
  if (torchType(Wanted.Tensor.Element) != Seen.DType)
    differ({diag::RunCallDType, "input__dtype",
            torchType(Wanted.Tensor.Element), Seen.DType, Why},
           Of());
}

/// The rows that routers sent, in the order of the calls of a row: not more
/// than there are, and backward those that came forward, from the last layer to
/// the first; twice if the forward pass runs again.
void Matcher::compareReceived(const TraceRow &Wanted,
                              llvm::ArrayRef<ReceivedRows> Counts) {
  const RowBody &Body = *Wanted.Body;
  Here.Group = &processGroup(GroupKind::Exp);
  auto Report = [&](int64_t Count, const Twine &Why, int64_t Expected) {
    reportNumbers(diag::RunReceived,
                  name(Wanted) + " receives " + Twine(Count) + " rows" + Why,
                  Body.Why, Expected, Count);
  };
  for (const ReceivedRows &R : Counts)
    if (R.Count > MaxReceived)
      Report(R.Count, "; at most " + Twine(MaxReceived) + " can be sent",
             MaxReceived);
  std::vector<ReceivedRows> &Came =
      Forward[{Wanted.From.MicroBatch, Wanted.From.Chunk}];
  if (Body.Kind == RowKind::ForwardStep) {
    Came = Counts.vec();
    Received.insert(Received.end(), Counts.begin(), Counts.end());
    return;
  }
  const size_t Times = Came.empty() ? 0 : Counts.size() / Came.size();
  for (size_t I = 0; I < Times * Came.size(); ++I) {
    const int64_t Count = Counts[I].Count;
    const ReceivedRows &Sent = Came[Came.size() - 1 - I / Times];
    if (Count >= 0 && Sent.Count >= 0 && Count != Sent.Count)
      Report(Count,
             ", but " + Twine(Sent.Count) + " came forward, in line " +
                 Twine(Sent.Line),
             Sent.Count);
  }
}
