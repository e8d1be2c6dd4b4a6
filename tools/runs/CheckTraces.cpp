// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/Check.h"
#include "tools/runs/RunChecker.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::runs {

bool CheckOptions::allows(const Divergence &D, int64_t Rank) const {
  return any_of(Allowed, [&](const Allowance &A) { return A.covers(D, Rank); });
}

namespace {

/// How one trace differs.
struct Differences {
  explicit Differences(const TraceFile &Of) { Report.Traces.push_back(Of); }
  const TraceFile &trace() const { return Report.Traces.front(); }
  bool empty() const { return count() == 0; }
  size_t count() const { return Report.Divergences.size() + Report.Omitted; }

  AlikeTraces Report;
  hash_code Digest = 0; ///< of all, printed or not
};

class TraceChecker {
public:
  TraceChecker(CompiledJob &Job, const ir::Program &P, const TracedRun &Run,
               const CheckOptions &Options, RunReport &Out)
      : Job(Job), P(P), Run(Run), Options(Options), Checker(P, Run),
        Groups(Checker.plan().map()), Out(Out) {}

  CheckSummary run();

private:
  void take(const Divergence &D, Differences &Into);
  void add(const Differences &Of);
  void check(const TraceFile &File);
  std::vector<TraceFile> sample() const;
  void explain();

  CompiledJob &Job;
  const ir::Program &P;
  const TracedRun &Run;
  const CheckOptions &Options;
  RunChecker Checker;
  Communicators Groups;
  RunReport &Out;
  CheckSummary Summary;
  std::vector<TraceFile> Different; ///< traces that diverge
  std::vector<AlikeTraces> Findings;
  /// By digest and number, indices of Findings.
  std::map<std::pair<size_t, size_t>, size_t> Alike;
  std::set<int64_t> Numbers; ///< seen in place of others
};

} // namespace

/// The numbers that were seen in place of others.
static void collectNumbers(const Divergence &D, std::set<int64_t> &Out) {
  constexpr size_t MaxNumbers = 16;
  for (size_t I = 0; I < D.SeenNumbers.size(); ++I) {
    const bool IsPlanned = I < D.ExpectedNumbers.size() &&
                           D.ExpectedNumbers[I] == D.SeenNumbers[I];
    if (!IsPlanned && Out.size() < MaxNumbers)
      Out.insert(D.SeenNumbers[I]);
  }
}

/// Adds a divergence that is not tolerated.
void TraceChecker::take(const Divergence &D, Differences &Into) {
  if (Options.allows(D, Into.trace().Rank)) {
    ++Summary.Tolerated;
    return;
  }
  ++Summary.Divergences;
  Groups.take(Into.trace(), D);
  collectNumbers(D, Numbers);
  Into.Digest = hash_combine(Into.Digest, D.Line, unsigned(D.Kind), D.Text);
  // Some are known only when more was read.
  std::vector<Divergence> &First = Into.Report.Divergences;
  First.insert(upper_bound(First, D,
                           [](const Divergence &A, const Divergence &B) {
                             return A.Line < B.Line;
                           }),
               D);
  if (First.size() > Options.Limit) {
    First.pop_back();
    ++Into.Report.Omitted;
  }
}

/// Traces that differ alike are one finding. A file that is no trace has no
/// rank, so it is a finding of its own.
void TraceChecker::add(const Differences &Of) {
  if (Of.empty())
    return;
  if (Of.trace().Rank < 0) {
    Findings.push_back(Of.Report);
    return;
  }
  auto [It, IsNew] =
      Alike.try_emplace({size_t(Of.Digest), Of.count()}, Findings.size());
  if (IsNew)
    Findings.push_back(Of.Report);
  else
    Findings[It->second].Traces.push_back(Of.trace());
}

void TraceChecker::check(const TraceFile &File) {
  Differences Found(File);
  auto Report = [&](const Divergence &D) { take(D, Found); };
  if (Error E = Checker.hold(File, Report))
    Report({0, diag::RunUnreadable, toString(std::move(E)), {}});
  add(Found);
  if (!Found.empty())
    Different.push_back(File);
}

/// Returns traces that diverge, of different stages if possible, and one that
/// does not: hints must fit all of them.
std::vector<TraceFile> TraceChecker::sample() const {
  std::vector<TraceFile> Sample = {Different.front()};
  if (Different.size() > 1)
    Sample.push_back(Different.back());
  for (const TraceFile &File : Run.Files)
    if (none_of(Different,
                [&](const TraceFile &D) { return D.Path == File.Path; })) {
      Sample.push_back(File);
      break;
    }
  return Sample;
}

/// Reports the most informative explanation first.
void TraceChecker::explain() {
  if (!Different.empty())
    for (const Hint &H : findHints(Job, Run.How, sample(), Numbers))
      Out.add(H);
  for (const AlikeTraces &F : Findings)
    Out.add(F);
  std::vector<Communicators::First> First = Groups.list();
  for (const Communicators::First &F :
       ArrayRef(First).take_front(Options.Limit))
    Out.add(F);
  if (First.size() > Options.Limit)
    Out.omitCommunicators(First.size() - Options.Limit);
}

CheckSummary TraceChecker::run() {
  for (const TraceFile &File : Run.Files)
    check(File);
  Checker.compare([&](const TraceFile &File, const Divergence &D) {
    Differences Found(File);
    take(D, Found);
    add(Found);
  });
  explain();
  Summary.Rows = Checker.rows();
  Summary.Iterations = Checker.iterations();
  Summary.World = *P.Spec.Parallel.World;
  Summary.setRanks(Checker.ranks());
  Summary.How = Run.How;
  Out.finish(Summary);
  return Summary;
}

void CheckSummary::setRanks(const std::set<int64_t> &Seen) {
  Ranks = static_cast<int64_t>(Seen.size());
  int64_t Next = 0;
  for (int64_t Rank : Seen) {
    if (Next < Rank)
      Missing.emplace_back(Next, Rank - 1);
    Next = Rank + 1;
  }
  if (Next < World)
    Missing.emplace_back(Next, World - 1);
}

CheckSummary checkTraces(CompiledJob &Job, const ir::Program &P,
                         const TracedRun &Run, const CheckOptions &Options,
                         RunReport &Out) {
  return TraceChecker(Job, P, Run, Options, Out).run();
}

} // namespace foretrace::runs
