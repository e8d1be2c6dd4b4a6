// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/Matcher.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::megatron;
using namespace foretrace::runs;
using llvm::StringRef;
using llvm::Twine;

static StringRef orNone(StringRef Text) { return Text.empty() ? "None" : Text; }

Matcher::Matcher(llvm::ArrayRef<Row> Rows, int64_t Rank, SourceRange Order,
                 int64_t MaxReceived, Reporter Report)
    : Rows(Rows), Rank(Rank), Order(Order), MaxReceived(MaxReceived),
      Report(std::move(Report)), IsSeen(Rows.size()) {
  for (size_t I = 0; I < Rows.size(); ++I)
    Places[Rows[I].Body->Op].push_back(I);
}

llvm::StringRef foretrace::runs::getName(DivergenceKind K) {
  static constexpr llvm::StringLiteral Names[] = {
#define DIVERGENCE(ENUMERATOR, KIND, DOC) KIND,
#include "tools/runs/Divergences.def"
  };
  return Names[static_cast<unsigned>(K)];
}

void Matcher::goTo(size_t Index, StringRef Group) {
  Here.Op = Rows[Index].Body->Op;
  Here.Group = Group.str();
  Here.Place = static_cast<size_t>(Iterations) * Rows.size() + Index;
}

void Matcher::report(DivergenceKind Kind, const Twine &Text, SourceRange Why,
                     StringRef Expected, StringRef Seen) {
  Divergence D = Here;
  D.Kind = Kind;
  D.Text = Text.str();
  D.Why = Why;
  D.Expected = Expected.str();
  D.Seen = Seen.str();
  Report(std::move(D));
}

std::string Matcher::name(const Row &R) const {
  return "`" + R.Body->Op + "` " + std::to_string(R.Batch);
}

void Matcher::startIteration() {
  IsSeen.assign(Rows.size(), false);
  Next = 0;
  Received.clear();
  Forward.clear();
}

void Matcher::endIteration(int64_t Line) {
  Here.Line = Line;
  for (size_t I = 0; I < Rows.size(); ++I)
    if (!IsSeen[I]) {
      goTo(I, Rows[I].Body->GroupKind);
      report(DivergenceKind::MissingRow,
             name(Rows[I]) +
                 (I == 0 ? Twine(" is missing at the start")
                         : " is missing after " + Twine(name(Rows[I - 1]))),
             Order);
    }
  ++Iterations;
}

/// Whether a row that was there before is one of the next iteration: this one
/// is nearly over, and the row is one of the first.
bool Matcher::beginsAgain(size_t Index) const {
  constexpr size_t Slack = 2;
  return Index <= Slack && Next + Slack >= Rows.size();
}

void Matcher::take(const SeenRow &Seen, int64_t Line) {
  ++Taken;
  goTo(std::min(Next, Rows.size() - 1), Seen.GroupKind);
  Here.Line = Line;
  Here.Op = Seen.Op.str();
  if (Seen.Rank != Rank)
    report(DivergenceKind::RankNumber,
           "a row of rank " + Twine(Seen.Rank) + " in the trace of rank " +
               Twine(Rank),
           {}, std::to_string(Rank), std::to_string(Seen.Rank));
  checkTime(Seen);
  auto Known = Places.find(Seen.Op);
  if (Known == Places.end())
    return report(DivergenceKind::UnexpectedRow,
                  "no `" + Seen.Op + "` is expected on this rank", Order);
  const std::vector<size_t> &Of = Known->second;
  if (Seen.Batch < 0 || Seen.Batch >= static_cast<int64_t>(Of.size()))
    return report(DivergenceKind::UnexpectedRow,
                  "`" + Seen.Op + "` " + Twine(Seen.Batch) + " of " +
                      Twine(Of.size()) + " that are expected, from 0",
                  Order);
  const size_t Index = Of[static_cast<size_t>(Seen.Batch)];
  if (IsSeen[Index] && beginsAgain(Index)) {
    endIteration(Line);
    startIteration();
  }
  const Row &Wanted = Rows[Index];
  goTo(Index, Wanted.Body->GroupKind);
  Here.Line = Line;
  if (IsSeen[Index])
    return report(DivergenceKind::DuplicateRow,
                  name(Wanted) + " was there before", Order);
  if (Index < Next)
    report(DivergenceKind::RowOrder,
           name(Wanted) + " comes late; it is expected before " +
               name(Rows[Index + 1]),
           Order);
  IsSeen[Index] = true;
  Next = std::max(Next, Index + 1);
  compare(Wanted, Seen);
}

void Matcher::finish(int64_t Lines) { endIteration(Lines); }

/// A clock that goes back: rows were mixed up, or two runs in one file.
void Matcher::checkTime(const SeenRow &Seen) {
  const double Time = readNumber(Seen.Timestamp).value_or(0);
  if (Time == 0) // scaling runs make up some rows
    return;
  if (Time < LastTime)
    report(DivergenceKind::Time,
           "the timestamp " + Seen.Timestamp + " is before that of a row above",
           {});
  LastTime = Time;
}

void Matcher::compare(const Row &Wanted, const SeenRow &Seen) {
  const RowBody &B = *Wanted.Body;
  const std::string Stage = std::to_string(Wanted.Stage);
  const std::string SeenStage = std::to_string(Seen.Stage);
  const struct {
    DivergenceKind Kind;
    StringRef Key, Expected, Got;
    SourceRange Why;
  } Fields[] = {
      {DivergenceKind::StageNumber, "stage_id", Stage, SeenStage, Order},
      {DivergenceKind::State, "mg_state", orNone(Wanted.State), Seen.State,
       Order},
      {DivergenceKind::Description, "description", orNone(B.Description),
       Seen.Description, B.Why},
      {DivergenceKind::GroupKind, "group_kind", orNone(B.GroupKind),
       Seen.GroupKind, B.Why},
      {DivergenceKind::Shape, "input__shape", orNone(B.Shape), Seen.Shape,
       B.Why},
      {DivergenceKind::DType, "input__dtype", orNone(B.DType), Seen.DType,
       B.Why}};
  for (const auto &F : Fields)
    if (F.Expected != F.Got)
      report(F.Kind,
             "`" + F.Key + "` of " + name(Wanted) + " is " + F.Got +
                 "; expected " + F.Expected,
             F.Why, F.Expected, F.Got);
  compareCalls(Wanted, Seen);
}

static bool isSame(const SubOperation &Wanted, const SeenCall &Seen) {
  return Wanted.Function == Seen.Function && Wanted.Name == Seen.Name &&
         Wanted.Comm == Seen.Comm;
}

static std::string describe(const SubOperation &S) {
  return "`" + (S.Name.empty() ? S.Function : S.Name) + "`";
}

static std::string describe(const SeenCall &S) {
  return ("`" + (S.Name.empty() ? S.Function : S.Name) + "`").str();
}

/// The first number of a shape, -1 if it has none.
static int64_t firstOf(StringRef Shape) {
  int64_t N;
  return Shape.consume_front("[") && !Shape.consumeInteger(10, N) ? N : -1;
}

/// Calls carry no number, so they are compared in order. A call that
/// is not there, or that nobody expects, must not make all that follow it
/// differ: one is looked ahead on both sides.
void Matcher::compareCalls(const Row &Wanted, const SeenRow &Seen) {
  llvm::ArrayRef<SubOperation> Calls = Wanted.Body->SubOperations;
  size_t J = 0;                // of Seen.Calls
  std::vector<int64_t> Counts; // of rows that a router sent
  auto IsReceived = [&](size_t I) {
    return StringRef(Calls[I].Shape).starts_with("[R,");
  };
  auto IsCall = [&](size_t I, size_t At) {
    return I < Calls.size() && At < Seen.Calls.size() &&
           isSame(Calls[I], Seen.Calls[At]);
  };
  auto Unexpected = [&](size_t At) {
    Here.Group = Seen.Calls[At].Group.str();
    report(DivergenceKind::UnexpectedCall,
           "call " + Twine(At) + " of " + name(Wanted) + ", " +
               describe(Seen.Calls[At]) + ", is not expected",
           Wanted.Body->Why);
  };
  for (size_t I = 0; I < Calls.size(); ++I) {
    if (!IsCall(I, J) && IsCall(I, J + 1) && !IsCall(I + 1, J))
      Unexpected(J++);
    Here.Group = Calls[I].Group;
    const bool IsMissing =
        J >= Seen.Calls.size() || (!IsCall(I, J) && IsCall(I + 1, J));
    if (IsMissing) {
      report(DivergenceKind::MissingCall,
             "call " + Twine(I) + " of " + name(Wanted) + ", " +
                 describe(Calls[I]) + ", is missing",
             Calls[I].Why);
      if (IsReceived(I))
        Counts.push_back(-1);
      continue;
    }
    compareCall(*Wanted.Body, Calls[I], Seen.Calls[J], I);
    if (IsReceived(I))
      Counts.push_back(firstOf(Seen.Calls[J].Shape));
    ++J;
  }
  for (; J < Seen.Calls.size(); ++J)
    Unexpected(J);
  compareReceived(Wanted, Counts);
}

/// R stands for however many rows were received.
static bool isShape(StringRef Wanted, StringRef Seen) {
  if (Wanted.consume_front("[R"))
    Seen = Seen.drop_front(std::min(Seen.find(','), Seen.size()));
  return Wanted == Seen;
}

void Matcher::compareCall(const RowBody &Body, const SubOperation &Wanted,
                          const SeenCall &Seen, size_t Index) {
  const struct {
    DivergenceKind Kind;
    StringRef Key, Expected, Got;
  } Fields[] = {
      {DivergenceKind::Call, "trace_src_func", Wanted.Function, Seen.Function},
      {DivergenceKind::Call, "func_name", Wanted.Name, Seen.Name},
      {DivergenceKind::Call, "comm_func", Wanted.Comm, Seen.Comm},
      {DivergenceKind::CallGroup, "group", Wanted.Group, Seen.Group},
      {DivergenceKind::CallShape, "input__shape", Wanted.Shape, Seen.Shape},
      {DivergenceKind::CallDType, "input__dtype", Wanted.DType, Seen.DType}};
  for (const auto &F : Fields)
    if (F.Kind == DivergenceKind::CallShape ? !isShape(F.Expected, F.Got)
                                            : F.Expected != F.Got)
      report(F.Kind,
             "`" + F.Key + "` of call " + Twine(Index) + " of `" + Body.Op +
                 "` is " + orNone(F.Got) + "; expected " + F.Expected,
             Wanted.Why, F.Expected, F.Got);
}

/// The rows that routers sent, in the order of the calls of a row: not more
/// than there are, and backward those that came forward, from the last layer to
/// the first; twice if the forward pass runs again.
void Matcher::compareReceived(const Row &Wanted,
                              llvm::ArrayRef<int64_t> Counts) {
  const RowBody &Body = *Wanted.Body;
  Here.Group = "exp";
  auto Report = [&](int64_t Count, const Twine &Why, int64_t Expected) {
    report(DivergenceKind::Received,
           name(Wanted) + " receives " + Twine(Count) + " rows" + Why, Body.Why,
           std::to_string(Expected), std::to_string(Count));
  };
  for (int64_t Count : Counts)
    if (Count > MaxReceived)
      Report(Count, "; at most " + Twine(MaxReceived) + " can be sent",
             MaxReceived);
  std::vector<int64_t> &Came =
      Forward[{Wanted.From.MicroBatch, Wanted.From.Chunk}];
  if (Body.Op == "forward_step") {
    Came = Counts.vec();
    Received.insert(Received.end(), Counts.begin(), Counts.end());
    return;
  }
  const size_t Times = Came.empty() ? 0 : Counts.size() / Came.size();
  for (size_t I = 0; I < Times * Came.size(); ++I) {
    const int64_t Count = Counts[I];
    const int64_t Before = Came[Came.size() - 1 - I / Times];
    if (Count >= 0 && Before >= 0 && Count != Before)
      Report(Count, ", but " + Twine(Before) + " came forward", Before);
  }
}
