// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Run.h"
#include "analysis/Figures.h"
#include "tools/driver/EmitBlocks.h"
#include "tools/sweep/Report.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <chrono>

using namespace llvm;

namespace foretrace::sweep {

namespace {

/// Shows how far a sweep is, on standard error: on a terminal a line that
/// changes, for programs lines of JSON, nothing in a pipe.
class ProgressPrinter {
public:
  /// Shows the progress of a sweep of \p Points points.
  ProgressPrinter(int64_t Points, bool IsJSON, bool IsQuiet);

  void show(const Summary &At);
  /// Shows how many points are emitted.
  void showEmitted(size_t Done, size_t Of);
  /// Takes the line away.
  void clear();

private:
  using Clock = std::chrono::steady_clock;

  bool isDue(bool IsLast);

  const int64_t Points;
  const bool IsJSON, IsLine;
  const Clock::time_point Start = Clock::now();
  std::optional<int64_t> Before; ///< points that are not of this run
  Clock::time_point Shown;
};

} // namespace

static constexpr char ProgressSchema[] = "foretrace.progress/1";

ProgressPrinter::ProgressPrinter(int64_t Points, bool IsJSON, bool IsQuiet)
    : Points(Points), IsJSON(IsJSON),
      IsLine(!IsJSON && !IsQuiet && errs().is_displayed()) {}

/// Returns whether to show progress: not too often, and at the end.
bool ProgressPrinter::isDue(bool IsLast) {
  constexpr std::chrono::milliseconds Pause(200);
  const Clock::time_point Now = Clock::now();
  if ((!IsJSON && !IsLine) || (Now - Shown < Pause && !IsLast))
    return false;
  Shown = Now;
  return true;
}

void ProgressPrinter::showEmitted(size_t Done, size_t Of) {
  if (!isDue(Done == Of))
    return;
  if (!IsJSON) {
    errs() << formatv("\r\x1b[K{0} of {1} points emitted", Done, Of);
    return;
  }
  json::OStream J(errs());
  J.object([&] {
    J.attribute("schema", ProgressSchema);
    J.attribute("emitted", static_cast<int64_t>(Done));
    J.attribute("of", static_cast<int64_t>(Of));
  });
  errs() << '\n';
}

/// Returns the value of the best point so far.
static int64_t bestValue(const Summary &At) {
  const int64_t Value = At.Best.kept().front().Values.front();
  return At.Best.choice().By.front().IsLargest ? -Value : Value;
}

void ProgressPrinter::show(const Summary &At) {
  if (!isDue(At.Points == Points))
    return;
  if (!Before)
    Before = At.Points;
  const double Seconds = std::chrono::duration<double>(Shown - Start).count();
  const double Rate =
      static_cast<double>(At.Points - *Before) / std::max(Seconds, 1e-3);
  const double Left =
      Rate > 0 ? static_cast<double>(Points - At.Points) / Rate : 0;
  const bool IsBest = !At.Best.kept().empty();
  if (IsJSON) {
    json::OStream J(errs());
    J.object([&] {
      J.attribute("schema", ProgressSchema);
      J.attribute("points", At.Points);
      J.attribute("of", Points);
      J.attribute("accepted", At.Accepted);
      if (IsBest) {
        J.attribute("best", bestValue(At));
        J.attribute("best_point", At.Best.kept().front().Id);
      }
      J.attribute("rate", static_cast<int64_t>(Rate));
      J.attribute("seconds_left", static_cast<int64_t>(Left));
    });
    errs() << '\n';
    return;
  }
  errs() << formatv(
      "\r\x1b[K{0:f1} % of {1} points, {2} accepted, {3:f1} "
      "million/s, {4:f0} s left{5}",
      100 * static_cast<double>(At.Points) / static_cast<double>(Points),
      Points, At.Accepted, Rate / 1e6, Left,
      IsBest ? formatv(", best {0} = {1}", At.Best.choice().By.front().Metric,
                       bestValue(At))
                   .str()
             : "");
}

void ProgressPrinter::clear() {
  if (IsLine)
    errs() << "\r\x1b[K";
}

/// Emits the points that are kept.
static Error emitAll(Compiler &Session, const Sweep &S, Database &DB,
                     const EmitPointsOptions &To, ProgressPrinter &Shown,
                     raw_ostream &OS, DiagnosticEngine &Diags) {
  Expected<EmittedPoints> Done = emitPoints(
      Session, S, DB, To,
      [&](size_t Done, size_t Of) { Shown.showEmitted(Done, Of); }, Diags);
  Shown.clear();
  if (!Done)
    return Done.takeError();
  OS << Done->Count + Done->Before << " emitted to `" << To.Folder << "`";
  if (Done->Refused != 0)
    OS << ", " << Done->Refused << " refused, the first is point "
       << *Done->FirstRefused;
  OS << '\n';
  return Error::success();
}

Expected<int64_t> runAndShow(Compiler &Session, const Sweep &S, RunOptions How,
                             DiagnosticEngine &Diags) {
  raw_ostream &Remarks = isForPrograms(How.Format) ? errs() : outs();
  if (Error E = checkOutput(How.Inputs, How.Output, How.Drawn.has_value()))
    return E;
  if (How.Drawn && !readsTime(S.Space.spec()))
    for (const StringRef Column : {How.Drawn->X, How.Drawn->Y})
      if (isOfTime(Column))
        return missingColumn(Column);
  if (How.Emitted) // before the work, in case the folder is another sweep's
    if (Error E = checkPoints(S, *How.Emitted))
      return E;
  std::optional<Database> DB;
  if (!How.Output.empty()) {
    Expected<Database> Opened = Database::open(How.Output, S);
    if (!Opened)
      return Opened.takeError();
    DB.emplace(std::move(*Opened));
  }
  std::optional<Plot> Page;
  if (How.Drawn) { // checks the columns before the work
    Expected<Plot> Opened = Plot::open(How.Output, *How.Drawn);
    if (!Opened)
      return Opened.takeError();
    Page.emplace(std::move(*Opened));
  }
  ProgressPrinter Shown(Engine(S).points(), How.ShowsJson, How.IsQuiet);
  Expected<Summary> Done = runSweep(S, DB ? &*DB : nullptr, How.Threads,
                                    [&](const Summary &At) { Shown.show(At); });
  Shown.clear();
  if (!Done)
    return Done.takeError();
  printSummary(Session, S, *Done, {How.Format, How.IsExact, /*ShowsAll=*/!DB},
               outs());
  printCaveats(Session, S, *Done, Remarks);
  constexpr size_t FewReasons = 3;
  if (How.ShowsReasons || Done->Accepted == 0)
    printReasons(Session, S, *Done, How.ShowsReasons ? SIZE_MAX : FewReasons,
                 Remarks);
  reportEffects(S, *Done, Diags);
  reportGoal(Session, S, *Done, Diags);
  if (How.Emitted)
    if (Error E = emitAll(Session, S, *DB, *How.Emitted, Shown, Remarks, Diags))
      return E;
  if (!DB && S.Space.spec().HasEmits)
    Remarks << "nothing is emitted; say where with -o\n";
  if (Page)
    if (Error E = writePage(*Page, How.Writing, std::move(How.Inputs)))
      return E;
  return Done->Accepted;
}

CompiledJob *begin(Compiler &Session, Sweep &S, bool ChecksBlocks) {
  CompiledJob &First = replay(Session, S, 0, /*EmitsOfSweep=*/true);
  if (!canBeSwept(First, Session.sources()))
    return &First;
  if (ChecksBlocks && First.spec())
    driver::checkBlocks(First.spec()->Emits, First.engine());
  if (First.spec() && First.engine().hasErrors())
    return &First;
  S.Sources = digestOf(Session, S);
  S.UsableMemory = usableMemoryOf(First, S.Space);
  return nullptr;
}

Error answerFromFile(const FileQuestions &Of) {
  Expected<Database> DB = Database::openExisting(Of.File);
  if (!DB)
    return DB.takeError();
  if (Error E = Of.Query.empty() ? Error::success()
                                 : DB->query(Of.Query, Of.Format, outs()))
    return E;
  for (const std::vector<std::string> *Goals : {&Of.Minimize, &Of.Maximize})
    for (const std::string &Column : *Goals)
      if (Error E = DB->printBest(Column, Goals == &Of.Maximize, Of.TakesUnfit,
                                  Of.Format, outs()))
        return E;
  if (!Of.Drawn)
    return Error::success();
  InputFiles Inputs;
  Inputs.add(Of.File);
  Expected<Plot> Page = Plot::open(Of.File, *Of.Drawn);
  return Page ? writePage(*Page, Of.Writing, std::move(Inputs))
              : Page.takeError();
}

} // namespace foretrace::sweep
