// SPDX-License-Identifier: Apache-2.0
//
// `foretrace check`: holds the traces of a real run against the job.
#include "passes/PassManager.h"
#include "tools/foretrace/CheckLog.h"
#include "tools/foretrace/DivergencePrinter.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"
#include "tools/runs/Tolerance.h"
#include "tools/runs/TracePlan.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace {

using runs::Divergence;
using runs::DivergenceKind;

static cl::opt<std::string>
    Tolerance("tolerance", cl::value_desc("file.toml"),
              cl::desc("Allow the divergences that this file names"),
              cl::cat(jobCategory()), cl::sub(checkCommand()));

static cl::opt<unsigned>
    Limit("limit", cl::value_desc("n"), cl::init(10),
          cl::desc("Print so many divergences of traces that differ alike; "
                   "the rest is counted (default: 10)"),
          cl::cat(outputCategory()), cl::sub(checkCommand()));

namespace {

/// How one trace differs.
struct Differences {
  explicit Differences(const runs::TraceFile &Of) {
    Report.Traces.push_back(Of);
  }
  const runs::TraceFile &trace() const { return Report.Traces.front(); }
  bool empty() const { return count() == 0; }
  size_t count() const { return Report.Divergences.size() + Report.Omitted; }

  Finding Report;
  hash_code Digest = 0; ///< of all, printed or not
};

class Checker {
public:
  Checker(const ir::Spec &Job, const ir::Program &P, const SourceMgr &Sources,
          std::vector<runs::TraceFile> Files,
          std::vector<runs::Allowance> Allowed)
      : Job(Job), P(P), Files(std::move(Files)), Allowed(std::move(Allowed)),
        How(runs::TracePlan::recognize(P, this->Files)), Plan(P, How),
        Groups(Plan.map()), Printer(DivergencePrinter::create(Sources)) {}

  ExitCode run();

private:
  void take(const Divergence &D, Differences &Into);
  void add(const Differences &Of);
  void check(const runs::TraceFile &File);
  void checkReceived();
  void checkFiles();
  std::vector<runs::TraceFile> sample() const;
  void explain();

  const ir::Spec &Job; ///< as the frontend left it
  const ir::Program &P;
  const std::vector<runs::TraceFile> Files;
  const std::vector<runs::Allowance> Allowed;
  const megatron::Instrumentation How;
  const runs::TracePlan Plan;
  runs::Communicators Groups;
  const std::unique_ptr<DivergencePrinter> Printer;
  CheckSummary Summary;
  std::map<int64_t, std::vector<int64_t>> Received; ///< by rank
  std::vector<runs::TraceFile> Different;           ///< traces that diverge
  std::vector<Finding> Findings;
  /// By digest and number, indices of Findings.
  std::map<std::pair<size_t, size_t>, size_t> Alike;
  std::set<int64_t> Numbers; ///< seen in place of others
};

} // namespace

/// The numbers of \p Seen that differ from those of \p Expected.
static void collectNumbers(StringRef Expected, StringRef Seen,
                           std::set<int64_t> &Out) {
  constexpr size_t MaxNumbers = 16;
  auto Next = [](StringRef &Text) -> std::optional<int64_t> {
    Text = Text.drop_until(isDigit);
    int64_t N;
    return Text.consumeInteger(10, N) ? std::nullopt : std::optional(N);
  };
  while (std::optional<int64_t> N = Next(Seen))
    if (N != Next(Expected) && Out.size() < MaxNumbers)
      Out.insert(*N);
}

/// Takes what is not allowed.
void Checker::take(const Divergence &D, Differences &Into) {
  if (any_of(Allowed, [&](const runs::Allowance &A) {
        return A.covers(D, Into.trace().Rank);
      })) {
    ++Summary.Tolerated;
    return;
  }
  ++Summary.Divergences;
  Groups.take(Into.trace(), D);
  collectNumbers(D.Expected, D.Seen, Numbers);
  Into.Digest = hash_combine(Into.Digest, D.Line, D.Kind, D.Text);
  if (Into.Report.Divergences.size() < Limit)
    Into.Report.Divergences.push_back(D);
  else
    ++Into.Report.Omitted;
}

/// Traces that differ alike are one finding.
void Checker::add(const Differences &Of) {
  if (Of.empty())
    return;
  auto [It, IsNew] =
      Alike.try_emplace({size_t(Of.Digest), Of.count()}, Findings.size());
  if (IsNew)
    Findings.push_back(Of.Report);
  else
    Findings[It->second].Traces.push_back(Of.trace());
}

void Checker::check(const runs::TraceFile &File) {
  Differences Found(File);
  auto Report = [&](const Divergence &D) { take(D, Found); };
  Error E = Plan.hold(File, Report, [&](const runs::Matcher &M) {
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
void Checker::checkReceived() {
  for (const runs::TraceFile &File : Files) {
    if (Plan.map().coordinate(File.Rank, ir::Axis::Ep) != 0)
      continue;
    std::vector<int64_t> Sum;
    bool IsWhole = true;
    Plan.map().forEachMember(File.Rank, {ir::Axis::Ep}, [&](int64_t Member) {
      const std::vector<int64_t> &Rows = Received[Member];
      IsWhole &= !Rows.empty() && !is_contained(Rows, -1) &&
                 (Sum.empty() || Sum.size() == Rows.size());
      Sum.resize(std::max(Sum.size(), Rows.size()));
      for (size_t I = 0; I < Rows.size(); ++I)
        Sum[I] += Rows[I];
    });
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
    Differences Found(File);
    take(D, Found);
    add(Found);
  }
}

/// A run leaves one trace a rank; a scaling run is as many runs as traces.
void Checker::checkFiles() {
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
std::vector<runs::TraceFile> Checker::sample() const {
  std::vector<runs::TraceFile> Sample = {Different.front()};
  if (Different.size() > 1)
    Sample.push_back(Different.back());
  for (const runs::TraceFile &File : Files)
    if (none_of(Different, [&](const runs::TraceFile &D) {
          return D.Path == File.Path;
        })) {
      Sample.push_back(File);
      break;
    }
  return Sample;
}

/// What says most comes first.
void Checker::explain() {
  if (!Different.empty())
    for (const runs::Hint &H : runs::findHints(Job, How, sample(), Numbers))
      Printer->print(H);
  for (const Finding &F : Findings)
    Printer->print(F);
  std::vector<runs::Communicators::First> First = Groups.list();
  for (const runs::Communicators::First &F : ArrayRef(First).take_front(Limit))
    Printer->print(F);
  if (First.size() > Limit)
    Printer->omitCommunicators(First.size() - Limit);
}

ExitCode Checker::run() {
  for (const runs::TraceFile &File : Files)
    check(File);
  checkFiles();
  checkReceived();
  explain();
  Summary.Ranks = static_cast<int64_t>(Files.size());
  Summary.World = *P.Spec.Parallel.World;
  Summary.How = How;
  Printer->finish(Summary);
  return Summary.Divergences == 0 ? ExitSuccess : ExitDiagnosed;
}

/// The rows of an iteration are remembered.
static Error checkSize(const ir::Schedule &S) {
  constexpr int64_t MaxSteps = int64_t(1) << 21;
  if (S.Steps <= MaxSteps)
    return Error::success();
  return createStringError("a rank runs " + Twine(S.Steps) +
                           " forward steps an iteration; at most " +
                           Twine(MaxSteps) + " can be checked");
}

ExitCode runCheck() {
  if (jobPath().empty() || givenTraces().empty())
    return usageError("check: a job or its traces are missing, for example "
                      "`foretrace check job.fore --trace run/`");
  SourceMgr Sources;
  DiagnosticEngine Diags = makeEngine();
  std::optional<std::vector<runs::Allowance>> Allowed =
      std::vector<runs::Allowance>();
  if (!Tolerance.empty())
    Allowed = runs::readTolerance(Tolerance, Sources, Diags);
  std::optional<ir::Spec> Job = readJob(Sources, Diags);
  if (Job && !Diags.hasErrors())
    if (std::unique_ptr<MemoryBuffer> Log = openLog(givenTraces()))
      return checkLog(*Job, *Log, *Allowed, Sources, Diags);
  ir::Program P;
  if (Job) {
    P.Spec = *Job;
    runPasses(P, pipelineFor(runs::TracePlan::needs()), Diags, {});
  }
  if (ExitCode Code = showMessages(Diags, Sources))
    return Code;
  auto Fail = [](Error E) {
    errs() << "foretrace: " << toString(std::move(E)) << '\n';
    return ExitDiagnosed;
  };
  if (Error E = checkSize(P.Schedule))
    return Fail(std::move(E));
  Expected<std::vector<runs::TraceFile>> Files =
      runs::findTraces(givenTraces(), *P.Spec.Parallel.World);
  if (!Files)
    return Fail(Files.takeError());
  return Checker(*Job, P, Sources, std::move(*Files), std::move(*Allowed))
      .run();
}

} // namespace foretrace
