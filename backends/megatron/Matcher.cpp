// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Matcher.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::megatron;
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

void Matcher::report(int64_t Line, StringRef Kind, const Twine &Text,
                     SourceRange Expected) {
  Report({Line, Kind, Text.str(), Expected});
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
  ++Iterations;
  for (size_t I = 0; I < Rows.size(); ++I)
    if (!IsSeen[I])
      report(Line, "missing-row",
             name(Rows[I]) +
                 (I == 0 ? Twine(" is missing at the start")
                         : " is missing after " + Twine(name(Rows[I - 1]))),
             Order);
}

/// Whether a row that was there before is one of the next iteration: this one
/// is nearly over, and the row is one of the first.
bool Matcher::beginsAgain(size_t Index) const {
  constexpr size_t Slack = 2;
  return Index <= Slack && Next + Slack >= Rows.size();
}

void Matcher::take(const SeenRow &Seen, int64_t Line) {
  ++Taken;
  if (Seen.Rank != Rank)
    report(Line, "rank",
           "a row of rank " + Twine(Seen.Rank) + " in the trace of rank " +
               Twine(Rank),
           {});
  checkTime(Seen, Line);
  auto Known = Places.find(Seen.Op);
  if (Known == Places.end())
    return report(Line, "unexpected-row",
                  "no `" + Seen.Op + "` is expected on this rank", Order);
  const std::vector<size_t> &Of = Known->second;
  if (Seen.Batch < 0 || Seen.Batch >= static_cast<int64_t>(Of.size()))
    return report(Line, "unexpected-row",
                  "`" + Seen.Op + "` " + Twine(Seen.Batch) + " of " +
                      Twine(Of.size()) + " that are expected, from 0",
                  Order);
  const size_t Index = Of[static_cast<size_t>(Seen.Batch)];
  if (IsSeen[Index] && beginsAgain(Index)) {
    endIteration(Line);
    startIteration();
  }
  const Row &Wanted = Rows[Index];
  if (IsSeen[Index])
    return report(Line, "duplicate-row", name(Wanted) + " was there before",
                  Order);
  if (Index < Next)
    report(Line, "row-order",
           name(Wanted) + " comes late; it is expected before " +
               name(Rows[Index + 1]),
           Order);
  IsSeen[Index] = true;
  Next = std::max(Next, Index + 1);
  compare(Wanted, Seen, Line);
}

void Matcher::finish(int64_t Lines) { endIteration(Lines); }

/// A clock that goes back: rows were mixed up, or two runs in one file.
void Matcher::checkTime(const SeenRow &Seen, int64_t Line) {
  const double Time = readNumber(Seen.Timestamp).value_or(0);
  if (Time == 0) // scaling runs make up some rows
    return;
  if (Time < LastTime)
    report(Line, "time",
           "the timestamp " + Seen.Timestamp + " is before that of a row above",
           {});
  LastTime = Time;
}

void Matcher::compare(const Row &Wanted, const SeenRow &Seen, int64_t Line) {
  const RowBody &B = *Wanted.Body;
  const std::string Stage = std::to_string(Wanted.Stage);
  const std::string SeenStage = std::to_string(Seen.Stage);
  const struct {
    StringRef Kind, Key, Expected, Got;
    SourceRange Why;
  } Fields[] = {
      {"stage", "stage_id", Stage, SeenStage, Order},
      {"state", "mg_state", orNone(Wanted.State), Seen.State, Order},
      {"description", "description", orNone(B.Description), Seen.Description,
       B.Why},
      {"group", "group_kind", orNone(B.GroupKind), Seen.GroupKind, B.Why},
      {"shape", "input__shape", orNone(B.Shape), Seen.Shape, B.Why},
      {"dtype", "input__dtype", orNone(B.DType), Seen.DType, B.Why}};
  for (const auto &F : Fields)
    if (F.Expected != F.Got)
      report(Line, F.Kind,
             "`" + F.Key + "` of " + name(Wanted) + " is " + F.Got +
                 "; expected " + F.Expected,
             F.Why);
  compareCalls(Wanted, Seen, Line);
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

void Matcher::compareCalls(const Row &Wanted, const SeenRow &Seen,
                           int64_t Line) {
  llvm::ArrayRef<SubOperation> Calls = Wanted.Body->SubOperations;
  size_t J = 0; // of Seen.Calls
  auto IsCall = [&](size_t I, size_t At) {
    return I < Calls.size() && At < Seen.Calls.size() &&
           isSame(Calls[I], Seen.Calls[At]);
  };
  auto Unexpected = [&](size_t At) {
    report(Line, "unexpected-call",
           "call " + Twine(At) + " of " + name(Wanted) + ", " +
               describe(Seen.Calls[At]) + ", is not expected",
           Wanted.Body->Why);
  };
  for (size_t I = 0; I < Calls.size(); ++I) {
    if (!IsCall(I, J) && IsCall(I, J + 1) && !IsCall(I + 1, J))
      Unexpected(J++);
    const bool IsMissing =
        J >= Seen.Calls.size() || (!IsCall(I, J) && IsCall(I + 1, J));
    if (IsMissing) {
      report(Line, "missing-call",
             "call " + Twine(I) + " of " + name(Wanted) + ", " +
                 describe(Calls[I]) + ", is missing",
             Calls[I].Why);
      continue;
    }
    compareCall(*Wanted.Body, Calls[I], Seen.Calls[J], I, Line);
    if (StringRef(Calls[I].Shape).starts_with("[R,"))
      compareReceived(*Wanted.Body, Seen, Seen.Calls[J].Shape, Line);
    ++J;
  }
  for (; J < Seen.Calls.size(); ++J)
    Unexpected(J);
}

void Matcher::compareCall(const RowBody &Body, const SubOperation &Wanted,
                          const SeenCall &Seen, size_t Index, int64_t Line) {
  StringRef Shape = Wanted.Shape;
  StringRef SeenShape = Seen.Shape;
  if (Shape.consume_front("[R"))
    SeenShape =
        SeenShape.drop_front(std::min(SeenShape.find(','), SeenShape.size()));
  const struct {
    StringRef Kind, Key, Expected, Got;
  } Fields[] = {{"call", "trace_src_func", Wanted.Function, Seen.Function},
                {"call", "func_name", Wanted.Name, Seen.Name},
                {"call", "comm_func", Wanted.Comm, Seen.Comm},
                {"call-group", "group", Wanted.Group, Seen.Group},
                {"call-shape", "input__shape", Shape, SeenShape},
                {"call-dtype", "input__dtype", Wanted.DType, Seen.DType}};
  for (const auto &F : Fields)
    if (F.Expected != F.Got)
      report(
          Line, F.Kind,
          "`" + F.Key + "` of call " + Twine(Index) + " of `" + Body.Op +
              "` is " + (F.Key == "input__shape" ? Seen.Shape : F.Got) +
              "; expected " +
              (F.Key == "input__shape" ? StringRef(Wanted.Shape) : F.Expected),
          Wanted.Why);
}

/// The rows a router sent: not more than there are, and backward those that
/// came forward, from the last layer to the first.
void Matcher::compareReceived(const RowBody &Body, const SeenRow &Seen,
                              StringRef Shape, int64_t Line) {
  int64_t Count;
  if (!Shape.consume_front("[") || Shape.consumeInteger(10, Count))
    return; // reported as a shape
  if (Count < 0 || Count > MaxReceived)
    report(Line, "received",
           "`" + Twine(Body.Op) + "` " + Twine(Seen.Batch) + " receives " +
               Twine(Count) + " rows; at most " + Twine(MaxReceived) +
               " can be sent",
           Body.Why);
  std::vector<int64_t> &Open = Forward[Seen.Batch];
  if (Body.Op == "forward_step") {
    Open.push_back(Count);
    Received.push_back(Count);
  } else if (!Open.empty()) {
    if (Open.back() != Count)
      report(Line, "received",
             "`" + Twine(Body.Op) + "` " + Twine(Seen.Batch) + " receives " +
                 Twine(Count) + " rows, but " + Twine(Open.back()) +
                 " came forward",
             Body.Why);
    Open.pop_back();
  }
}
