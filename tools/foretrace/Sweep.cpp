// SPDX-License-Identifier: Apache-2.0
//
// `foretrace sweep`: every combination of values of a job's keys, judged and
// measured.
#include "backends/output/FileOutputs.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"
#include "tools/sweep/Plot.h"
#include "tools/sweep/Progress.h"
#include "tools/sweep/Report.h"

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
static SweepOption<std::string> Picture("plot", "x=column,y=column",
                                        "Write a page with pictures of the "
                                        "points beside the file");
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

static Error writePage(sweep::Plot &Of) {
  FileOutputs Out("", "", !isQuiet());
  Error Failed = Error::success();
  Error Added = Out.add(Of.pagePath(), [&](raw_ostream &OS) {
    Failed = joinErrors(std::move(Failed), Of.write(OS));
  });
  if (Error E = joinErrors(std::move(Failed), std::move(Added)))
    return E;
  if (Error E = Out.commit())
    return E;
  if (!isQuiet())
    for (const FileOutputs::File &F : Out.files())
      errs() << "wrote " << F.Path << " (" << F.Bytes << " bytes)\n";
  return Error::success();
}

static Error sweepAll(const sweep::Sweep &S,
                      const std::optional<sweep::PlotColumns> &Drawn) {
  std::optional<sweep::Database> DB;
  if (!Output.empty()) {
    Expected<sweep::Database> Opened =
        sweep::Database::open(Output, S, sweep::digestOf(S));
    if (!Opened)
      return Opened.takeError();
    DB.emplace(std::move(*Opened));
  }
  std::optional<sweep::Plot> Page;
  if (Drawn) { // before the work, in case there is no such column
    Expected<sweep::Plot> Opened = sweep::Plot::open(Output, *Drawn);
    if (!Opened)
      return Opened.takeError();
    Page.emplace(std::move(*Opened));
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
  return Page ? writePage(*Page) : Error::success();
}

/// What is asked of a file without a sweep.
static Error readFile(const std::optional<sweep::PlotColumns> &Drawn) {
  if (!Query.empty()) {
    Expected<sweep::Database> DB = sweep::Database::openExisting(Output);
    if (!DB)
      return DB.takeError();
    if (Error E = DB->query(Query, Format, outs()))
      return E;
  }
  if (!Drawn)
    return Error::success();
  Expected<sweep::Plot> Page = sweep::Plot::open(Output, *Drawn);
  return Page ? writePage(*Page) : Page.takeError();
}

ExitCode runSweep() {
  std::optional<sweep::PlotColumns> Drawn;
  if (Picture.getNumOccurrences() != 0) {
    if (Output.empty())
      return usageError("--plot: -o is missing, for example "
                        "`foretrace sweep -o fit.db --plot x=memory,y=flops`");
    Expected<sweep::PlotColumns> Read = sweep::PlotColumns::read(Picture);
    if (!Read)
      return usageError(toString(Read.takeError()));
    Drawn.emplace(std::move(*Read));
  }
  if (!Output.empty() && (!Query.empty() || (Drawn && jobPath().empty()))) {
    Error E = readFile(Drawn);
    return E ? failure(std::move(E)) : ExitSuccess;
  }
  if (!Progress.empty() && Progress != "json")
    return usageError("--progress: json");
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
  Error E = sweepAll(*S, Drawn);
  return E ? failure(std::move(E)) : ExitSuccess;
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
  return E ? failure(std::move(E)) : ExitSuccess;
}

} // namespace foretrace
