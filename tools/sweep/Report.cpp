// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Report.h"
#include "analysis/Metrics.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Tools.h"
#include "tools/sweep/Digest.h"
#include "tools/sweep/Shell.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::sweep {

Summary::Summary(const Sweep &S)
    : Kept(Choice::of(S.Space.spec())), Best(Choice::best(S.Space.spec())),
      HasEffect(S.Space.axes().size()) {}

std::vector<int64_t> Summary::add(const Tally &T, int64_t Of) {
  Points += Of;
  Accepted += T.NumAccepted;
  for (const auto &[Why, R] : T.Rejected)
    addRejected(Rejected[Why], R.Example, R.Count);
  for (const size_t Axis : T.Effective)
    HasEffect[Axis] = true;
  Best.add(T.Best);
  return Kept.keepsAll() ? std::vector<int64_t>() : Kept.add(T.points(Kept));
}

/// Adds what a database has already.
static Error resume(Database &DB, Summary &To) {
  Expected<int64_t> Accepted = DB.accepted();
  if (!Accepted)
    return Accepted.takeError();
  Expected<std::map<Reason, Rejection>> Rejected = DB.rejections();
  if (!Rejected)
    return Rejected.takeError();
  To.Points = To.Accepted = *Accepted;
  To.Rejected = std::move(*Rejected);
  for (const auto &[Why, R] : To.Rejected)
    To.Points += R.Count;
  To.IsResumed = To.Points != 0;
  if (Expected<std::vector<int64_t>> Dropped = DB.choose(To.Kept); !Dropped)
    return Dropped.takeError();
  if (!To.Best.choice().hasGoal())
    return Error::success();
  Expected<std::vector<Chooser::Point>> Best = DB.best();
  if (!Best)
    return Best.takeError();
  To.Best.add(std::move(*Best));
  return Error::success();
}

Expected<Summary> runSweep(const Sweep &S, Database *DB, unsigned Threads,
                           function_ref<void(const Summary &)> Progress) {
  const Engine E(S);
  Summary Out(S);
  std::vector<int64_t> Done;
  if (DB) {
    if (Error Failed = resume(*DB, Out))
      return Failed;
    Expected<std::vector<int64_t>> Units = DB->done(S);
    if (!Units)
      return Units.takeError();
    Done = std::move(*Units);
  }
  Error Failed = Error::success();
  E.run(Done, Threads, [&](int64_t Unit, const Tally &T) {
    // What could not be read is no verdict.
    if (const std::string Unread = S.Files->failure(); !Unread.empty()) {
      Failed = joinErrors(std::move(Failed), createStringError(Unread));
      return false;
    }
    const std::vector<int64_t> Dropped = Out.add(T, E.pointsOf(Unit));
    if (DB)
      if (Error Write = DB->write(Unit, T, Dropped)) {
        Failed = joinErrors(std::move(Failed), std::move(Write));
        return false;
      }
    Progress(Out);
    return true;
  });
  if (Failed)
    return Failed;
  if (DB)
    DB->seal();
  return Out;
}

std::string digestOf(Compiler &Session, const Sweep &S) {
  std::string Text;
  for (const auto &[Path, Digest] : filesRead(Session))
    Text += Path + " " + Digest + "\n";
  for (const std::string &Override : S.Options.Overrides)
    Text += Override + "\n";
  for (diag::Id Id : allDiagnostics())
    if (S.Diags.isAllowed(Id))
      Text += getDiagnosticInfo(Id).Slug.str() + "\n";
  return digestOf(Text);
}

/// Of all points.
static double shareOf(int64_t Count, const Summary &S) {
  return S.Points == 0
             ? 0
             : 100 * static_cast<double>(Count) / static_cast<double>(S.Points);
}

/// The values of a point that differ between points, and what it is compared
/// by.
static void printPoint(const Sweep &S, const Chooser &By,
                       const Chooser::Point &P, raw_ostream &OS) {
  OS << formatv("{0,12} ", P.Id);
  for (const auto &[Index, A] : enumerate(S.Space.axes()))
    for (const SweepSpec::Key &K : A.Keys)
      if (A.size() > 1)
        OS << ' ' << K.Name << '=' << K.Values[S.Space.indexAt(P.Id, Index)];
  for (const auto &[G, Value] : zip_equal(By.choice().By, P.Values))
    OS << formatv("  {0} = {1}", G.Metric, G.IsLargest ? -Value : Value);
  OS << '\n';
}

void printSummary(const Sweep &S, const Summary &Of, raw_ostream &OS) {
  OS << formatv("{0} points: {1} accepted ({2:f1} %), {3} rejected\n",
                Of.Points, Of.Accepted, shareOf(Of.Accepted, Of),
                Of.Points - Of.Accepted);
  constexpr size_t MaxLines = 20;
  const ArrayRef<Chooser::Point> Kept = Of.Kept.kept();
  if (!Of.Kept.keepsAll())
    OS << Kept.size() << " kept:\n";
  for (const Chooser::Point &P : Kept.take_front(MaxLines))
    printPoint(S, Of.Kept, P, OS);
  if (Kept.size() > MaxLines)
    OS << formatv("{0,12} more\n", Kept.size() - MaxLines);
  if (!Of.Best.kept().empty()) {
    OS << "best:\n";
    printPoint(S, Of.Best, Of.Best.kept().front(), OS);
  }
}

void reportEffects(const Sweep &S, const Summary &Of, DiagnosticEngine &Diags) {
  // Only who saw legal jobs, and all of them, knows.
  if (Of.Accepted == 0 || Of.IsResumed || S.Of.Count != 1)
    return;
  const Plan P(S.Space);
  for (const Step &Inner : P.Inner)
    if (const SweepSpec::Axis &A = S.Space.axes()[Inner.Axis];
        !Of.HasEffect[Inner.Axis] && A.size() > 1)
      Diags.report(A.Keys.front().Range, diag::AxisWithoutEffect,
                   A.Keys.front().Name);
}

void printReasons(Compiler &Session, const Sweep &S, const Summary &Of,
                  raw_ostream &OS) {
  using Row = std::pair<Reason, Rejection>;
  std::vector<Row> Rows(Of.Rejected.begin(), Of.Rejected.end());
  stable_sort(Rows, [](const Row &A, const Row &B) {
    return A.second.Count > B.second.Count;
  });
  for (const auto &[Why, R] : Rows) {
    const PointVerdict V = judge(Session, S, R.Example);
    const Diagnostic *First = firstError(V);
    std::string Nearest;
    for (const Diagnostic &Note :
         First ? First->Notes : std::vector<Diagnostic>())
      if (Note.Id == diag::NearestLegal)
        Nearest += "; " + Note.text();
    OS << formatv("{0,5:f1} %  {1,12}  {2}{3}: {4} (point {5}){6}\n",
                  shareOf(R.Count, Of), R.Count,
                  getDiagnosticInfo(Why.Reported).Slug,
                  Why.Key.empty() ? "" : " (" + Why.Key + ")",
                  First ? First->text() : "", R.Example, Nearest);
    Session.forget(V.Job);
  }
}

/// Whether an error is one of the value that -D gives at \p Range, not of the
/// key.
static bool isOfValue(const SourceFiles &Sources, SourceRange Range) {
  if (!Range.isValid() || Sources.name(Range.File) != CommandLineName)
    return false;
  const StringRef Before =
      Sources.text(Range.File).str().take_front(Range.Begin);
  return Before.substr(Before.rfind('\n') + 1).contains('=');
}

bool canBeSwept(const CompiledJob &Job, const SourceFiles &Sources) {
  static constexpr diag::Id OfValues[] = {
      diag::RequirementFailed, diag::OutsideDomain, diag::InexactDivision,
      diag::DivisionByZero, diag::IntegerOverflow};
  return Job.spec() || all_of(Job.diagnostics(), [&](const Diagnostic &D) {
           return D.Level != Severity::Error || is_contained(OfValues, D.Id) ||
                  isOfValue(Sources, D.Range);
         });
}

std::string optionOf(StringRef Override) { return "-D " + quoted(Override); }

std::string commandOf(const Sweep &S) {
  std::string Command = "foretrace compile " + quoted(StringRef(S.Job));
  for (const std::string &Text : S.Options.Overrides)
    Command += " " + optionOf(Text);
  return Command;
}

std::string commandOf(const Sweep &S, int64_t Point) {
  std::string Command = commandOf(S);
  for (const std::string &Text : S.Space.overridesOf(Point))
    Command += " " + optionOf(Text);
  return Command;
}

} // namespace foretrace::sweep
