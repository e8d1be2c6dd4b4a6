// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/RunChecker.h"
#include "backends/megatron/Unlogged.h"
#include "tools/runs/Fit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::runs {

/// An error if an iteration is too long to be remembered row by row.
static Error checkSize(const ir::Schedule &S) {
  constexpr int64_t MaxSteps = int64_t(1) << 21;
  if (S.steps() <= MaxSteps)
    return Error::success();
  return createStringError("a rank runs " + Twine(S.steps()) +
                           " forward steps an iteration; at most " +
                           Twine(MaxSteps) + " can be checked");
}

Expected<TracedRun> openRun(const ir::Program &P,
                            const std::vector<std::string> &Given,
                            DiagnosticEngine &OfCalls) {
  if (Error E = checkSize(P.Schedule))
    return Expected<TracedRun>(std::move(E));
  Expected<FoundTraces> Found = findTraces(Given, *P.Spec.Parallel.World);
  if (!Found)
    return Found.takeError();
  TracedRun Run;
  Run.Files = std::move(Found->Traces);
  Run.Others = std::move(Found->Others);
  Run.How = TracePlan::recognize(P, Run.Files);
  megatron::checkCalls(P, Run.How, OfCalls);
  return Run;
}

RunChecker::RunChecker(const ir::Program &P, const TracedRun &Run)
    : P(P), Run(Run), Plan(P, Run.How) {
  for (const TraceFile &File : Run.Files)
    Ranks.insert(File.Rank);
}

Error RunChecker::hold(const TraceFile &File, const Matcher::Reporter &Report) {
  return Plan.hold(File, Report, [&](const Matcher &M) {
    Rows += M.taken();
    Iterations &Of = Done.emplace_back();
    Of.File = File;
    for (int64_t I = 0; I <= M.iterations(); ++I)
      Of.Begins.push_back(M.beginOf(I));
    takeReceived(File, M);
  });
}

int64_t RunChecker::iterations() const {
  size_t Most = 0;
  for (const Iterations &Of : Done)
    Most = std::max(Most, Of.count());
  return static_cast<int64_t>(Most);
}

void RunChecker::takeReceived(const TraceFile &File, const Matcher &M) {
  const ir::Group Experts{{ir::Axis::Ep}};
  const std::vector<int64_t> Group = Experts.ranks(Plan.map(), File.Rank);
  if (M.received().empty() ||
      !all_of(Group, [&](int64_t Rank) { return Ranks.count(Rank) > 0; }))
    return;
  Received[File.Rank] = {File, M.received().vec()};
  if (!all_of(Group, [&](int64_t Rank) { return Received.count(Rank) > 0; }))
    return;
  sumReceived(Group);
  for (int64_t Rank : Group)
    Received.erase(Rank);
}

/// Returns whether \p Rows differ at \p Call from most other calls.
static bool isOdd(ArrayRef<ReceivedRows> Rows, size_t Call) {
  std::vector<int64_t> Counts;
  for (const ReceivedRows &R : Rows)
    Counts.push_back(R.Count);
  auto Middle = Counts.begin() + static_cast<ptrdiff_t>(Counts.size() / 2);
  std::nth_element(Counts.begin(), Middle, Counts.end());
  return Rows[Call].Count != *Middle;
}

/// Together the ranks of an expert group receive all rows that were sent. If
/// not, reports the rank with an unusual number, if there is only one; else the
/// first.
void RunChecker::sumReceived(ArrayRef<int64_t> Group) {
  const size_t Calls = Received[Group.front()].second.size();
  std::vector<int64_t> Sum(Calls);
  for (int64_t Rank : Group) {
    const std::vector<ReceivedRows> &Rows = Received[Rank].second;
    const auto IsUnknown = [](const ReceivedRows &R) { return R.Count < 0; };
    if (Rows.size() != Calls || any_of(Rows, IsUnknown))
      return;
    for (size_t I = 0; I < Calls; ++I)
      Sum[I] = checkedAdd(Sum[I], Rows[I].Count).value_or(INT64_MAX);
  }
  const int64_t Sent = Plan.maxReceived();
  const auto Wrong = find_if(Sum, [&](int64_t N) { return N != Sent; });
  if (Wrong == Sum.end())
    return;
  const auto Call = static_cast<size_t>(Wrong - Sum.begin());
  SmallVector<int64_t, 8> Odd;
  copy_if(Group, std::back_inserter(Odd),
          [&](int64_t Rank) { return isOdd(Received[Rank].second, Call); });
  const auto &[File, Rows] =
      Received[Odd.size() == 1 ? Odd.front() : Group.front()];
  Divergence D{Rows[Call].Line, diag::RunReceivedSum,
               ("the ranks of its expert group receive " + Twine(*Wrong) +
                " rows in call " + Twine(Call) + " of " + Twine(Calls) + ", " +
                Twine(Rows[Call].Count) + " of them here; they send " +
                Twine(Sent))
                   .str(),
               P.Spec.Parallel.Ep.Range};
  D.Expected = std::to_string(Sent);
  D.Seen = std::to_string(*Wrong);
  D.ExpectedNumbers = {Sent};
  D.SeenNumbers = {*Wrong};
  WrongSums.emplace_back(File, std::move(D));
}

/// Returns the rank in a file's name, in the form of the instrumentation; -1
/// for other names.
static int64_t rankInName(StringRef Path) {
  StringRef Name = sys::path::filename(Path);
  const size_t At = Name.rfind("rank");
  if (At == StringRef::npos)
    return -1;
  Name = Name.drop_front(At + 4);
  Name.consume_front("_");
  return readCount(Name.take_while(isDigit)).value_or(-1);
}

/// All given files should be traces. A rank has one trace. Of several the one
/// whose name has the rank is assumed to be right.
void RunChecker::compareFiles(Reporter Report) const {
  for (const NoTrace &Other : Run.Others)
    Report({Other.Path, -1},
           {Other.Line,
            Other.Line > 0 ? diag::RunMalformed : diag::RunUnreadable,
            Other.Why,
            {}});
  ArrayRef<TraceFile> Files = Run.Files;
  while (!Files.empty()) {
    const int64_t Rank = Files.front().Rank;
    const ArrayRef<TraceFile> Same =
        Files.take_while([&](const TraceFile &F) { return F.Rank == Rank; });
    Files = Files.drop_front(Same.size());
    const TraceFile *Right = find_if(
        Same, [&](const TraceFile &F) { return rankInName(F.Path) == Rank; });
    if (Right == Same.end())
      Right = Same.begin();
    for (const TraceFile &F : Same)
      if (&F != Right)
        Report(F, {1,
                   diag::RunMixedRuns,
                   "there is another trace of this rank, " + Right->Path,
                   {}});
  }
}

/// Ranks run iterations together. The number that most have is right; of
/// equally frequent ones, the larger. A scaling run has a run for each trace.
void RunChecker::compareIterations(Reporter Report) const {
  if (Run.How.Scaling)
    return;
  std::vector<size_t> Counts;
  for (const Iterations &Of : Done)
    Counts.push_back(Of.count());
  const size_t Most = commonest(Counts);
  for (const Iterations &Of : Done) {
    const size_t Count = Of.count();
    if (Count == Most)
      continue;
    Divergence D{Of.Begins[std::min(Count, Most)],
                 diag::RunIterations,
                 ("iteration " + Twine(std::min(Count, Most)) +
                  (Count > Most ? " begins" : " is missing") +
                  " here, the first being 0; " + Twine(count(Counts, Most)) +
                  " of " + Twine(Done.size()) + " traces have " + Twine(Most))
                     .str(),
                 {}};
    D.Expected = std::to_string(Most);
    D.Seen = std::to_string(Count);
    Report(Of.File, D);
  }
}

void RunChecker::compare(Reporter Report) const {
  compareFiles(Report);
  compareIterations(Report);
  for (const auto &[File, D] : WrongSums)
    Report(File, D);
}

} // namespace foretrace::runs
