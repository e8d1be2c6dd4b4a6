// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/RowClock.h"
#include "llvm/Support/FormatVariadic.h"

using namespace foretrace::runs;
using llvm::formatv;
using llvm::StringRef;

/// A row without a duration is known only by its end.
static double durationOf(StringRef Text) {
  return readNumber(Text).value_or(0);
}

void RowClock::reportSecond(const Span &First, const Span &Second) {
  Report(Second.Line, Second.Op,
         formatv("it begins at {0:F2} ms; the row of line {1} above ends at "
                 "{2:F2}",
                 Second.Begin, First.Line, First.End)
             .str());
}

void RowClock::reportFirst(const Span &First, const Span &Second) {
  Report(First.Line, First.Op,
         formatv("it ends at {0:F2} ms; the row of line {1} below begins at "
                 "{2:F2}",
                 First.End, Second.Line, Second.Begin)
             .str());
}

/// Reports one of two overlapping rows: the first if the next row fits behind
/// the second only, else the second.
void RowClock::takeSpan(const Span &Row) {
  if (Doubtful.Line > 0) {
    const bool IsFirstOdd = !fits(Row, Last.End) && fits(Row, Doubtful.End);
    if (IsFirstOdd)
      reportFirst(Last, Doubtful);
    else
      reportSecond(Last, Doubtful);
    if (!fits(Row, Last.End))
      Last = Doubtful;
    Doubtful.Line = 0;
  }
  if (Row.Begin < -Slack && Last.Line == 0)
    return Report(Row.Line, Row.Op,
                  formatv("it begins at {0:F2} ms, before 0: it ends at {1:F2}",
                          Row.Begin, Row.End)
                      .str());
  if (Last.Line > 0 && !fits(Row, Last.End)) {
    if (fits(Row, Before)) {
      Doubtful = Row;
      return;
    }
    reportSecond(Last, Row);
  }
  Before = Last.End;
  Last = Row;
}

void RowClock::takeFused(const SeenRow &Row, const Span &At) {
  if (LastTimestamp == Row.Timestamp && LastDuration == Row.Duration)
    return;
  Report(At.Line, At.Op,
         formatv(
             "it ends at {0} ms after {1}; the row of line {2}, of the same "
             "call, at {3} after {4}",
             Row.Timestamp, Row.Duration, LastLine, LastTimestamp, LastDuration)
             .str());
}

/// A length is known without a time of day as well.
bool RowClock::hasLongCall(const SeenRow &Row, int64_t Line) {
  const std::optional<double> Lasts = readNumber(Row.Duration);
  if (!Lasts)
    return false;
  for (size_t I = 0; I < Row.Calls.size(); ++I) {
    const SeenCall &C = Row.Calls[I];
    const double Length = durationOf(C.Duration);
    if (Length <= *Lasts + Slack)
      continue;
    Report(Line, Row.Op,
           formatv("call {0}, `{1}`, lasts {2:F2} ms; its row lasts {3:F2}", I,
                   C.Name.empty() ? C.Function : C.Name, Length, *Lasts)
               .str());
    return true; // what follows is of the same cause
  }
  return false;
}

/// Takes calls one after the other, while the row lasts.
void RowClock::takeCalls(const SeenRow &Row, const Span &At) {
  double Done = At.Begin;
  for (size_t I = 0; I < Row.Calls.size(); ++I) {
    const SeenCall &C = Row.Calls[I];
    const std::optional<double> End = readNumber(C.Timestamp);
    if (!End)
      continue;
    const double Begin = *End - durationOf(C.Duration);
    if (Begin >= Done - Slack && *End <= At.End + Slack) {
      Done = *End;
      continue;
    }
    const std::string From =
        I == 0 ? "its row begins" : "call " + std::to_string(I - 1) + " ends";
    Report(At.Line, At.Op,
           formatv("call {0}, `{1}`, lasts from {2:F2} to {3:F2} ms, not "
                   "between {4:F2}, where {5}, and {6:F2}, where its row ends",
                   I, C.Name.empty() ? C.Function : C.Name, Begin, *End, Done,
                   From, At.End)
               .str());
    return; // what follows is of the same cause
  }
}

std::optional<RowClock::Span> RowClock::spanOf(const SeenRow &Row,
                                               int64_t Line) {
  const std::optional<double> End = readNumber(Row.Timestamp);
  if (!End)
    return std::nullopt;
  return Span{*End - durationOf(Row.Duration), *End, Line, Row.Op.str()};
}

bool RowClock::isAfterAll(const SeenRow &Row) const {
  const std::optional<Span> At = spanOf(Row, 0);
  return At && fits(*At, Last.End);
}

void RowClock::take(const SeenRow &Row, int64_t Line, bool IsFused) {
  const bool HasLongCall = hasLongCall(Row, Line);
  const std::optional<Span> At = spanOf(Row, Line);
  if (!At)
    return;
  if (IsFused)
    takeFused(Row, *At);
  else
    takeSpan(*At);
  if (!HasLongCall)
    takeCalls(Row, *At);
  LastLine = Line;
  LastDuration = Row.Duration.str();
  LastTimestamp = Row.Timestamp.str();
}

void RowClock::finish() {
  if (Doubtful.Line > 0)
    reportSecond(Last, Doubtful);
}
