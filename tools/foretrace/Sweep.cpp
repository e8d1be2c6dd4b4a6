// SPDX-License-Identifier: Apache-2.0
//
// `foretrace sweep`: every combination of values of a job's keys, judged and
// measured.
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/LaunchOptions.h"
#include "tools/foretrace/Messages.h"
#include "tools/sweep/Progress.h"
#include "tools/sweep/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace foretrace {

/// An option of the command.
template <typename T> struct SweepOption : cl::opt<T> {
  SweepOption(StringRef Name, StringRef Value, StringRef Doc)
      : cl::opt<T>(Name, cl::value_desc(Value), cl::desc(Doc),
                   cl::cat(outputCategory()), cl::sub(sweepCommand())) {}
};

static cl::list<std::string>
    Axes("sweep", cl::value_desc("key=values"),
         cl::desc("An axis: a key or param as -D names it, and its values: "
                  "1,2,4, 1..16, powers(1,64), divisors(96)"),
         cl::cat(jobCategory()), cl::sub(sweepCommand()));

static SweepOption<std::string> Output("o", "file.db",
                                       "Keep the results in this file");
static SweepOption<bool> Why("why", "", "Print the reasons of rejected points");
static SweepOption<int64_t> Point("explain", "id",
                                  "Compile this point: verdict and numbers");
static SweepOption<std::string> Query("query", "sql",
                                      "Print what the file says to this");
static cl::opt<sweep::RowFormat> Format(
    "format", cl::desc("How to print rows of --query:"),
    cl::values(clEnumValN(sweep::RowFormat::Table, "table", "(default)"),
               clEnumValN(sweep::RowFormat::CSV, "csv", "RFC 4180"),
               clEnumValN(sweep::RowFormat::JSON, "json", "an object a line")),
    cl::init(sweep::RowFormat::Table), cl::cat(outputCategory()),
    cl::sub(sweepCommand()));
static SweepOption<unsigned> Threads("threads", "n",
                                     "Threads (default: one a processor)");
static SweepOption<std::string> Part("shard", "i/n",
                                     "Only this part of the points");
static SweepOption<std::string> Progress("progress", "json",
                                         "A line of JSON for each step");

/// Shows what the compiler says of the point.
static ExitCode explainPoint(const sweep::Sweep &S) {
  if (Point < 0 || Point >= S.Space.size())
    return usageError("--explain: there are " + Twine(S.Space.size()) +
                      " points, from 0");
  outs() << sweep::commandOf(S, Point) << '\n';
  Compiler Session;
  CompiledJob &Job = sweep::replay(Session, S, Point);
  if (const ir::Program *P = Job.program({ir::Fact::Totalled}))
    sweep::printMetrics(*P, outs());
  outs().flush(); // messages come after it, also in a pipe
  return showMessages(Job.engine(), Session.sources());
}

static Error sweepAll(const sweep::Sweep &S) {
  std::optional<sweep::Database> DB;
  if (!Output.empty()) {
    Expected<sweep::Database> Opened =
        sweep::Database::open(Output, S, sweep::digestOf(S));
    if (!Opened)
      return Opened.takeError();
    DB.emplace(std::move(*Opened));
  }
  sweep::ProgressPrinter Shown(sweep::Engine(S).points(), Progress == "json",
                               isQuiet());
  Expected<sweep::Summary> Done =
      sweep::runSweep(S, DB ? &*DB : nullptr, Threads,
                      [&](const sweep::Summary &At) { Shown.show(At); });
  Shown.clear();
  if (!Done)
    return Done.takeError();
  sweep::printSummary(*Done, outs());
  if (Why)
    sweep::printReasons(S, *Done, outs());
  return Error::success();
}

/// The command that does \p S, less what its parts differ in.
static std::vector<std::string> commandLine(const sweep::Sweep &S) {
  std::vector<std::string> Words = {
      sys::fs::getMainExecutable(nullptr, nullptr), "sweep", S.Job, "--quiet"};
  for (const std::string &Text : S.Options.Overrides)
    Words.push_back("-D" + Text);
  for (const std::string &Folder : S.Options.ImportPaths)
    Words.push_back("-I" + Folder);
  for (const std::string &Text : Axes)
    Words.push_back("--sweep=" + Text);
  append_range(Words, warningWords());
  return Words;
}

static Error queryFile() {
  Expected<sweep::Database> DB = sweep::Database::openExisting(Output);
  return DB ? DB->query(Query, Format, outs()) : DB.takeError();
}

ExitCode runSweep() {
  if (!Query.empty() && !Output.empty()) {
    Error E = queryFile();
    return E ? failure(std::move(E)) : ExitSuccess;
  }
  if (!Progress.empty() && Progress != "json")
    return usageError("--progress: json");
  sweep::LaunchOptions Launch = launchOptions();
  Launch.Threads = Threads;
  Launch.Output = Output;
  if (Launch.isWanted() && (!Part.empty() || !Progress.empty()))
    return usageError("--shards: it goes with neither --shard nor --progress");
  if (Error E = Launch.check(Why))
    return usageError(toString(std::move(E)));
  if (jobPath().empty() || Axes.empty())
    return usageError("sweep: a job or an axis is missing, for example "
                      "`foretrace sweep job.fore --sweep parallel.tp=1,2,4`");
  Expected<sweep::Sweep> S =
      sweep::Sweep::make(jobPath(), frontendOptions(), makeEngine(), Axes);
  if (!S)
    return usageError(toString(S.takeError()));
  if (!Part.empty()) {
    Expected<sweep::Shard> Of = sweep::Shard::read(Part);
    if (!Of)
      return usageError(toString(Of.takeError()));
    S->Of = *Of;
  }
  if (Point.getNumOccurrences() != 0)
    return explainPoint(*S);
  Compiler Session;
  CompiledJob &First = sweep::replay(Session, *S, 0);
  if (!sweep::canBeSwept(First))
    return showMessages(First.engine(), Session.sources());
  if (Launch.isWanted()) {
    Expected<bool> IsDone = sweep::launch(*S, commandLine(*S), Launch, outs());
    if (!IsDone)
      return failure(IsDone.takeError(), ExitEnvironment);
    if (!*IsDone)
      return ExitSuccess;
  }
  Error E = sweepAll(*S);
  return E ? failure(std::move(E), ExitEnvironment) : ExitSuccess;
}

static cl::list<std::string> Shards(cl::Positional, cl::desc("<shard.db>..."),
                                    cl::cat(jobCategory()),
                                    cl::sub(mergeCommand()));
static cl::opt<std::string> Merged("o", cl::value_desc("file.db"),
                                   cl::desc("The file of all shards"),
                                   cl::cat(outputCategory()),
                                   cl::sub(mergeCommand()));

ExitCode runMerge() {
  if (Shards.empty() || Merged.empty())
    return usageError("merge: shards or -o are missing, for example "
                      "`foretrace merge a.db b.db -o all.db`");
  Error E = sweep::Database::merge(Shards, Merged);
  return E ? failure(std::move(E), ExitEnvironment) : ExitSuccess;
}

} // namespace foretrace
