// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Report.h"
#include "passes/analyses/Metrics.h"
#include "tools/sweep/Shell.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SHA256.h"

using namespace llvm;

namespace foretrace::sweep {

void Summary::add(const Tally &T, int64_t Of) {
  Points += Of;
  Accepted += static_cast<int64_t>(T.Accepted.size());
  for (const auto &[Why, R] : T.Rejected) {
    Rejection &To = Rejected[Why];
    To.Count += R.Count;
    To.Example = std::min(To.Example, R.Example);
  }
}

/// What a database has already.
static Expected<Summary> summaryOf(Database &DB) {
  Summary Out;
  Expected<int64_t> Accepted = DB.accepted();
  if (!Accepted)
    return Accepted.takeError();
  Expected<std::map<Reason, Rejection>> Rejected = DB.rejections();
  if (!Rejected)
    return Rejected.takeError();
  Out.Points = Out.Accepted = *Accepted;
  Out.Rejected = std::move(*Rejected);
  for (const auto &[Why, R] : Out.Rejected)
    Out.Points += R.Count;
  return Out;
}

Expected<Summary> runSweep(const Sweep &S, Database *DB, unsigned Threads,
                           function_ref<void(const Summary &)> Progress) {
  const Engine E(S);
  Summary Out;
  std::vector<int64_t> Done;
  if (DB) {
    Expected<Summary> Before = summaryOf(*DB);
    if (!Before)
      return Before.takeError();
    Out = std::move(*Before);
    Expected<std::vector<int64_t>> Units = DB->done(S);
    if (!Units)
      return Units.takeError();
    Done = std::move(*Units);
  }
  Error Failed = Error::success();
  E.run(Done, Threads, [&](int64_t Unit, const Tally &T) {
    if (DB)
      if (Error Write = DB->write(Unit, T)) {
        Failed = joinErrors(std::move(Failed), std::move(Write));
        return false;
      }
    Out.add(T, E.pointsOf(Unit));
    Progress(Out);
    return true;
  });
  if (Failed)
    return Failed;
  if (DB)
    DB->seal();
  return Out;
}

std::string digestOf(const Sweep &S) {
  Compiler Session;
  replay(Session, S, 0);
  SHA256 Hash;
  const SourceMgr &Read = Session.sources().forRenderer();
  for (unsigned I = 1; I <= Read.getNumBuffers(); ++I)
    if (const MemoryBuffer *B = Read.getMemoryBuffer(I);
        B->getBufferIdentifier() != CommandLineName)
      Hash.update(B->getBuffer());
  for (const std::string &Text : S.Options.Overrides)
    Hash.update(Text + "\n");
  for (unsigned I = 0; I < diag::NumDiagnostics; ++I)
    if (const auto Id = static_cast<diag::Id>(I); S.Diags.isAllowed(Id))
      Hash.update(getDiagnosticInfo(Id).Slug.str() + "\n");
  return toHex(Hash.final(), /*LowerCase=*/true);
}

/// Of all points.
static double shareOf(int64_t Count, const Summary &S) {
  return S.Points == 0
             ? 0
             : 100 * static_cast<double>(Count) / static_cast<double>(S.Points);
}

void printSummary(const Summary &Of, raw_ostream &OS) {
  OS << formatv("{0} points: {1} accepted ({2:f1} %), {3} rejected\n",
                Of.Points, Of.Accepted, shareOf(Of.Accepted, Of),
                Of.Points - Of.Accepted);
}

/// What is reported of a job first.
static std::string firstErrorOf(CompiledJob &Job) {
  Job.program({ir::Fact::Totalled});
  for (const Diagnostic &D : Job.diagnostics())
    if (D.Level == Severity::Error)
      return D.text();
  return "";
}

void printReasons(const Sweep &S, const Summary &Of, raw_ostream &OS) {
  using Row = std::pair<Reason, Rejection>;
  std::vector<Row> Rows(Of.Rejected.begin(), Of.Rejected.end());
  stable_sort(Rows, [](const Row &A, const Row &B) {
    return A.second.Count > B.second.Count;
  });
  for (const auto &[Why, R] : Rows) {
    Compiler Session;
    OS << formatv("{0,5:f1} %  {1,12}  {2}{3}: {4} (point {5})\n",
                  shareOf(R.Count, Of), R.Count,
                  getDiagnosticInfo(Why.Reported).Slug,
                  Why.Key.empty() ? "" : " (" + Why.Key + ")",
                  firstErrorOf(replay(Session, S, R.Example)), R.Example);
  }
}

bool canBeSwept(const CompiledJob &Job) {
  static constexpr diag::Id OfValues[] = {
      diag::RequirementFailed, diag::OutsideDomain, diag::InexactDivision,
      diag::DivisionByZero, diag::IntegerOverflow};
  return Job.spec() || all_of(Job.diagnostics(), [](const Diagnostic &D) {
           return D.Level != Severity::Error || is_contained(OfValues, D.Id);
         });
}

CompiledJob &replay(Compiler &Session, const Sweep &S, int64_t Point) {
  FrontendOptions Options = S.Options;
  append_range(Options.Overrides, S.Space.overridesOf(Point));
  return Session.read(S.Job, std::move(Options), S.Diags.cloneEmpty());
}

std::string commandOf(const Sweep &S, int64_t Point) {
  std::vector<std::string> Command = {"foretrace", "compile", S.Job};
  for (const std::string &Text : S.Options.Overrides)
    append_values(Command, "-D", Text);
  for (const std::string &Text : S.Space.overridesOf(Point))
    append_values(Command, "-D", Text);
  return quoted(Command);
}

void printMetrics(const ir::Program &P, raw_ostream &OS) {
  ir::Program Measured = P;
  const std::vector<ir::ExprId> Values = metricsOf(Measured);
  for (const auto &[M, Value] : zip_equal(allMetrics(), Values))
    if (const int64_t Number = Measured.Sizes.value(Value); Number != 0)
      OS << formatv("{0,-20} {1,24}  {2}\n", M.Name, Number, M.Doc);
}

} // namespace foretrace::sweep
