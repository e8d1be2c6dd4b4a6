// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/Check.h"
#include "tools/runs/TracePlan.h"
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
  TraceChecker(CompiledJob &Job, const ir::Program &P,
               megatron::Instrumentation How, std::vector<TraceFile> Files,
               const CheckOptions &Options, DivergencePrinter &Out)
      : Job(Job), P(P), Files(std::move(Files)), Options(Options), How(How),
        Plan(P, How), Groups(Plan.map()), Out(Out) {}

  CheckSummary run();

private:
  void take(const Divergence &D, Differences &Into);
  void add(const Differences &Of);
  void check(const TraceFile &File);
  void checkReceived();
  void checkFiles();
  std::vector<TraceFile> sample() const;
  void explain();

  CompiledJob &Job;
  const ir::Program &P;
  const std::vector<TraceFile> Files;
  const CheckOptions &Options;
  const megatron::Instrumentation How;
  const TracePlan Plan;
  Communicators Groups;
  DivergencePrinter &Out;
  CheckSummary Summary;
  std::map<int64_t, std::vector<int64_t>> Received; ///< by rank
  std::vector<TraceFile> Different;                 ///< traces that diverge
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

/// Takes what is not allowed.
void TraceChecker::take(const Divergence &D, Differences &Into) {
  if (Options.allows(D, Into.trace().Rank)) {
    ++Summary.Tolerated;
    return;
  }
  ++Summary.Divergences;
  Groups.take(Into.trace(), D);
  collectNumbers(D, Numbers);
  Into.Digest = hash_combine(Into.Digest, D.Line, D.Kind, D.Text);
  if (Into.Report.Divergences.size() < Options.Limit)
    Into.Report.Divergences.push_back(D);
  else
    ++Into.Report.Omitted;
}

/// Traces that differ alike are one finding.
void TraceChecker::add(const Differences &Of) {
  if (Of.empty())
    return;
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
  Error E = Plan.hold(File, Report, [&](const Matcher &M) {
    Summary.Iterations = std::max(Summary.Iterations, M.iterations());
    Summary.Rows += M.taken();
    Received[File.Rank] = M.received().vec();
  });
  if (E)
    Report({0, DivergenceKind::Unreadable, toString(std::move(E)), {}});
  add(Found);
  if (!Found.empty())
    Different.push_back(File);
}

/// Together the ranks of an expert group receive all rows that were sent.
void TraceChecker::checkReceived() {
  for (const TraceFile &File : Files) {
    if (Plan.map().coordinate(File.Rank, ir::Axis::Ep) != 0)
      continue;
    std::vector<int64_t> Sum;
    bool IsWhole = true;
    const ir::Group Experts{{ir::Axis::Ep}};
    for (int64_t Rank : Experts.ranks(Plan.map(), File.Rank)) {
      const std::vector<int64_t> &Rows = Received[Rank];
      IsWhole &= !Rows.empty() && !is_contained(Rows, -1) &&
                 (Sum.empty() || Sum.size() == Rows.size());
      Sum.resize(std::max(Sum.size(), Rows.size()));
      for (size_t I = 0; I < Rows.size(); ++I)
        Sum[I] += Rows[I];
    }
    const int64_t Sent = Plan.maxReceived();
    auto Wrong = find_if(Sum, [&](int64_t N) { return N != Sent; });
    if (!IsWhole || Wrong == Sum.end())
      continue;
    Divergence D{0, DivergenceKind::ReceivedSum,
                 ("the ranks of its expert group receive " + Twine(*Wrong) +
                  " rows in call " + Twine(Wrong - Sum.begin()) + " of " +
                  Twine(Sum.size()) + "; they send " + Twine(Sent))
                     .str(),
                 P.Spec.Parallel.Ep.Range};
    D.Expected = std::to_string(Sent);
    D.Seen = std::to_string(*Wrong);
    D.ExpectedNumbers = {Sent};
    D.SeenNumbers = {*Wrong};
    Differences Found(File);
    take(D, Found);
    add(Found);
  }
}

/// A run leaves one trace a rank; a scaling run is as many runs as traces.
void TraceChecker::checkFiles() {
  if (How.Scaling)
    return;
  for (size_t I = 1; I < Files.size(); ++I) {
    if (Files[I].Rank != Files[I - 1].Rank)
      continue;
    Differences Found(Files[I]);
    take({0,
          DivergenceKind::MixedRuns,
          "there is another trace of this rank, " + Files[I - 1].Path,
          {}},
         Found);
    add(Found);
  }
}

/// Traces that diverge, of different stages if there are, and one that does
/// not: hints hold for all.
std::vector<TraceFile> TraceChecker::sample() const {
  std::vector<TraceFile> Sample = {Different.front()};
  if (Different.size() > 1)
    Sample.push_back(Different.back());
  for (const TraceFile &File : Files)
    if (none_of(Different,
                [&](const TraceFile &D) { return D.Path == File.Path; })) {
      Sample.push_back(File);
      break;
    }
  return Sample;
}

/// What says most comes first.
void TraceChecker::explain() {
  if (!Different.empty())
    for (const Hint &H : findHints(Job, How, sample(), Numbers))
      Out.print(H);
  for (const AlikeTraces &F : Findings)
    Out.print(F);
  std::vector<Communicators::First> First = Groups.list();
  for (const Communicators::First &F :
       ArrayRef(First).take_front(Options.Limit))
    Out.print(F);
  if (First.size() > Options.Limit)
    Out.omitCommunicators(First.size() - Options.Limit);
}

CheckSummary TraceChecker::run() {
  Out.begin();
  for (const TraceFile &File : Files)
    check(File);
  checkFiles();
  checkReceived();
  explain();
  Summary.Ranks = static_cast<int64_t>(Files.size());
  Summary.World = *P.Spec.Parallel.World;
  Summary.How = How;
  Out.finish(Summary);
  return Summary;
}

Error checkSize(const ir::Schedule &S) {
  constexpr int64_t MaxSteps = int64_t(1) << 21;
  if (S.steps() <= MaxSteps)
    return Error::success();
  return createStringError("a rank runs " + Twine(S.steps()) +
                           " forward steps an iteration; at most " +
                           Twine(MaxSteps) + " can be checked");
}

CheckSummary checkTraces(CompiledJob &Job, const ir::Program &P,
                         megatron::Instrumentation How,
                         std::vector<TraceFile> Files,
                         const CheckOptions &Options, DivergencePrinter &Out) {
  return TraceChecker(Job, P, How, std::move(Files), Options, Out).run();
}

} // namespace foretrace::runs
