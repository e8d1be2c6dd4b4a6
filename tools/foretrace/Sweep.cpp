// SPDX-License-Identifier: Apache-2.0
//
// `foretrace sweep`: every combination of values of a job's keys, judged and
// measured.
#include "backends/Backends.h"
#include "tools/driver/FormatOption.h"
#include "tools/foretrace/Commands.h"
#include "tools/foretrace/Emit.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"
#include "tools/sweep/EmitPoints.h"
#include "tools/sweep/Launch.h"
#include "tools/sweep/Plot.h"
#include "tools/sweep/Results.h"
#include "tools/sweep/Run.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"
#include <functional>

using namespace llvm;

namespace foretrace {

using sweep::LaunchEngine;

/// An option of the command.
template <typename T> struct SweepOption : cl::opt<T> {
  SweepOption(StringRef Name, StringRef Value, StringRef Doc)
      : cl::opt<T>(Name, cl::value_desc(Value), cl::desc(Doc),
                   outputOption(sweepCommand())) {}
};

/// An option of the sweep itself, which may be repeated.
struct SweepEntry : cl::list<std::string> {
  SweepEntry(StringRef Name, StringRef Value, StringRef Doc)
      : cl::list<std::string>(Name, cl::value_desc(Value), cl::desc(Doc),
                              jobOption(sweepCommand())) {}
};

static cl::opt<LaunchEngine>
    Engine("engine", cl::desc("How to run the shards of --shards:"),
           cl::values(clEnumValN(LaunchEngine::Local, "local",
                                 "processes on this machine (default)"),
                      clEnumValN(LaunchEngine::Slurm, "slurm",
                                 "a job array of Slurm")),
           cl::init(LaunchEngine::Local), outputOption(sweepCommand()));
static SweepOption<unsigned>
    Shards("shards", "n",
           "Split the sweep into this many processes and merge the results");
static cl::list<std::string>
    Slurm("slurm", cl::value_desc("arguments"),
          cl::desc("Options of sbatch, such as '--partition=long --time=60'"),
          outputOption(sweepCommand()));
static SweepOption<bool> Wait("wait", "",
                              "Wait for the Slurm jobs and print the summary");

/// The words of --slurm, cut where a shell would.
static std::vector<std::string> slurmWords() {
  BumpPtrAllocator Memory;
  StringSaver Saver(Memory);
  SmallVector<const char *, 8> Words;
  for (const std::string &Text : Slurm)
    cl::TokenizeGNUCommandLine(Text, Saver, Words);
  return {Words.begin(), Words.end()};
}

/// Returns the options of the command line, less the threads and the database.
static sweep::LaunchOptions launchOptions() {
  sweep::LaunchOptions Options;
  Options.Engine = Engine;
  if (Shards.getNumOccurrences() != 0)
    Options.Shards = Shards;
  Options.Slurm = slurmWords();
  Options.Waits = Wait;
  return Options;
}

static SweepEntry Axes("sweep", "key=values",
                       "Axis: a key or param as in -D, and its values: 1,2,4, "
                       "1..16, powers(1,64), divisors(96)");
static SweepEntry
    Where("where", "condition",
          "Accept only points that satisfy this: peak <= 80 GB, fits");
static SweepEntry Metrics("metric", "name=expression",
                          "Additional metric: headroom='80 GB - peak'");
static SweepEntry Minimize("minimize", "metric", "Metric to minimize");
static SweepEntry Maximize("maximize", "metric", "Metric to maximize");
static SweepEntry Keep(
    "keep", "points",
    "Points to keep: all (default), 'pareto(peak, flops)', 'top(9, peak)'");
static SweepEntry
    Fits("fits", "any|required",
         "Whether --minimize, --maximize and --keep choose among points that "
         "do not fit into the memory of a device, too (default: required)");
static cl::opt<std::string>
    AxesFile("axes", cl::value_desc("file.toml"),
             cl::desc("File with axes, conditions and the points to keep"),
             jobOption(sweepCommand()));

static SweepOption<std::string> Output("o", "file.db",
                                       "Database of the results");
static SweepOption<bool> Why("why", "", "Print why points are rejected");
static SweepOption<int64_t>
    Point("explain", "id",
          "Compile this point and print its verdict and metrics");
static SweepOption<std::string>
    Query("query", "sql", "Print the answer of the database to this query");
static driver::QuantityFormatOption
    SweepFormat(sweepCommand(), outputCategory(),
                "Format of points and of rows of --query:");

static cl::list<std::string> SweepEmits(
    "emit", cl::value_desc("backend"), cl::CommaSeparated,
    cl::desc("Backend to run for the points that are kept, with the options of "
             "the job's `emit` block (default: from the `sweep` section)"),
    outputOption(sweepCommand()));
static SweepOption<std::string>
    PointsFolder("points", "folder",
                 "Parent folder of the outputs of points (default: `points` "
                 "next to the file of -o)");
static SweepOption<std::string> Picture("plot", "x=column,y=column",
                                        "Plot the points");
static SweepOption<std::string>
    Collect("collect", "folder",
            "Add the results of `run.sh` in this folder to the file of -o");
static SweepOption<unsigned>
    SweepThreads("threads", "n",
                 "Number of threads (default: one per processor)");
static SweepOption<std::string> Part("shard", "i/n",
                                     "Evaluate only this shard of the points");
static SweepOption<std::string> Progress("progress", "json",
                                         "Print progress as lines of JSON");

/// Returns the part of the sweep that the command line sets.
static SweepRequest givenRequest() {
  SweepRequest R = sweep::makeRequest();
  R.File = AxesFile;
  for (const SweepEntry &E :
       {std::cref(Axes), std::cref(Metrics), std::cref(Where),
        std::cref(Minimize), std::cref(Maximize), std::cref(Keep),
        std::cref(Fits)})
    for (const std::string &Text : E)
      R.Entries.push_back({E.ArgStr.str(), Text});
  return R;
}

/// Shows the compiler's diagnostics for the point.
static ExitCode explainPoint(Compiler &Session, const sweep::Sweep &S) {
  if (Point < 0 || Point >= S.Space.size())
    return usageError("--explain: there are " + Twine(S.Space.size()) +
                      " points, from 0");
  outs() << sweep::commandOf(S, Point) << '\n';
  const sweep::PointVerdict V = sweep::judge(Session, S, Point);
  sweep::printMetrics(S, V.Metrics, SweepFormat.isExact(), outs());
  outs().flush(); // diagnostics follow it, also in a pipe
  return showMessages(V.Job.engine(), Session.sources());
}

/// Returns how to emit the points that are kept; nothing if not requested.
static std::optional<sweep::EmitPointsOptions>
emitOptions(const sweep::Sweep &S, const InputFiles &Inputs) {
  const bool IsOfSweep = SweepEmits.empty();
  if ((IsOfSweep && !S.Space.spec().HasEmits) || Output.empty() ||
      S.Of.Count != 1) // of shards, once they are merged
    return std::nullopt;
  SmallString<128> Folder(PointsFolder);
  if (Folder.empty()) {
    Folder = sys::path::parent_path(Output);
    sys::path::append(Folder, "points");
  }
  OutputOptions Writing = outputOptions();
  Writing.Threads = SweepThreads;
  return sweep::EmitPointsOptions{
      Folder.str().str(),
      Output,
      std::vector<std::string>(SweepEmits.begin(), SweepEmits.end()),
      IsOfSweep,
      Writing,
      Inputs};
}

/// Returns how the command line runs and shows the sweep.
static sweep::RunOptions runOptions(const sweep::Sweep &S,
                                    std::optional<sweep::PlotColumns> Drawn,
                                    const InputFiles &Inputs) {
  return {Output,    std::move(Drawn), emitOptions(S, Inputs),
          Inputs,    SweepThreads,     Progress == "json",
          isQuiet(), SweepFormat,      SweepFormat.isExact(),
          Why,       outputOptions()};
}

/// The command that does \p S, less what its parts differ in.
static std::vector<std::string> commandLine(const sweep::Sweep &S) {
  std::vector<std::string> Words = {
      sys::fs::getMainExecutable(nullptr, nullptr), "sweep", S.Job, "--quiet"};
  for (const std::string &Text : S.Options.Overrides)
    Words.push_back("-D" + Text);
  for (const std::string &Folder : S.Options.ImportPaths)
    Words.push_back("-I" + Folder);
  if (S.IsDurable)
    Words.push_back("--sync");
  const SweepRequest Asked = givenRequest();
  if (!Asked.File.empty())
    Words.push_back("--axes=" + Asked.File);
  for (const SweepRequest::Given &G : Asked.Entries)
    Words.push_back("--" + G.Flag + "=" + G.Text);
  append_range(Words, warningWords());
  return Words;
}

static ExitCode collectAll() {
  Expected<sweep::CollectedResults> Done =
      sweep::collectResults(Output, Collect);
  if (!Done)
    return failure(Done.takeError());
  outs() << Done->Count << " results";
  if (Done->Failed != 0)
    outs() << ", " << Done->Failed << " scripts without one";
  outs() << '\n';
  return ExitSuccess;
}

/// Returns the columns of --plot, if it is given.
static Expected<std::optional<sweep::PlotColumns>> givenPicture() {
  if (Picture.getNumOccurrences() == 0)
    return std::nullopt;
  if (Output.empty())
    return createStringError(
        "--plot: -o is missing, for example "
        "`foretrace sweep -o fit.db --plot x=peak,y=flops`");
  Expected<sweep::PlotColumns> Read = sweep::PlotColumns::read(Picture);
  if (!Read)
    return Read.takeError();
  return std::optional(std::move(*Read));
}

/// Checks that options fit together, as far as no job is needed.
static Error checkOptions(const sweep::LaunchOptions &Launch, bool HasPicture) {
  if (!Progress.empty() && Progress != "json")
    return createStringError("--progress: json");
  if (Launch.isWanted() && (!Part.empty() || !Progress.empty()))
    return createStringError(
        "--shards: can't be combined with --shard or --progress");
  if (Error E = Launch.check(Why || HasPicture || !SweepEmits.empty()))
    return E;
  if (jobPath().empty())
    return createStringError("sweep: a job is missing, for example `foretrace "
                             "sweep job.fore --sweep parallel.tp=1,2,4`");
  if (!SweepEmits.empty() && Output.empty())
    return createStringError("--emit: needs -o, for example `-o fit.db`");
  for (const std::string &Name : SweepEmits)
    if (!findBackend(Name))
      return createStringError(
          "--emit: `" + Name +
          "` is not a backend; see `foretrace list backends`");
  return Error::success();
}

/// The sweep of the job with the axes \p Spec.
static Expected<sweep::Sweep> makeSweep(SweepSpec Spec) {
  if (Spec.Axes.empty())
    return createStringError("sweep: an axis is missing, for example `--sweep "
                             "parallel.tp=1,2,4`");
  Expected<sweep::Space> Space = sweep::Space::make(std::move(Spec));
  if (!Space)
    return Space.takeError();
  sweep::Sweep S = {jobPath().str(), frontendOptions(), makeEngine(),
                    std::move(*Space)};
  S.IsDurable = outputOptions().IsDurable;
  S.TimesAll = !Output.empty();
  if (Part.empty())
    return S;
  Expected<sweep::Shard> Of = sweep::Shard::read(Part);
  if (!Of)
    return Of.takeError();
  S.Of = *Of;
  return S;
}

ExitCode runSweep() {
  Expected<std::optional<sweep::PlotColumns>> Drawn = givenPicture();
  if (!Drawn)
    return usageError(toString(Drawn.takeError()));
  if (!Output.empty() && !Collect.empty())
    return collectAll();
  // The remaining options belong to the sweep itself, which needs a job.
  const size_t Goals = Minimize.size() + Maximize.size();
  const bool WantsBest =
      Goals != 0 && givenRequest().Entries.size() == Goals + Fits.size();
  if (!Output.empty() &&
      (!Query.empty() || (jobPath().empty() && (*Drawn || WantsBest)))) {
    Error E = sweep::answerFromFile({Output, Query, Minimize, Maximize,
                                     is_contained(Fits, "any"), *Drawn,
                                     SweepFormat, outputOptions()});
    return E ? failure(std::move(E)) : ExitSuccess;
  }
  sweep::LaunchOptions Launch = launchOptions();
  Launch.Threads = SweepThreads;
  Launch.Output = Output;
  if (Error E = checkOptions(Launch, Drawn->has_value()))
    return usageError(toString(std::move(E)));
  const auto Files = makeIntrusiveRefCnt<sweep::FrozenFiles>();
  Compiler Session(PassRunner(), Files);
  DiagnosticEngine Diags = makeEngine();
  std::optional<SweepSpec> Spec =
      Session.readSweep(jobPath(), frontendOptions(), givenRequest(), Diags);
  if (!Spec)
    return showMessages(Diags, Session.sources());
  Expected<sweep::Sweep> S = makeSweep(std::move(*Spec));
  if (!S)
    return usageError(toString(S.takeError()));
  S->Files = Files;
  if (Error E = sweep::checkFormat(*S, SweepFormat))
    return usageError(toString(std::move(E)));
  if (Point.getNumOccurrences() != 0)
    return explainPoint(Session, *S);
  if (CompiledJob *Refused = sweep::begin(Session, *S, SweepEmits.empty()))
    return showMessages(Refused->engine(), Session.sources());
  if (const ir::Spec *First = sweep::replay(Session, *S, 0).spec())
    reportAssumed(assumedKeys(*First), jobPath(), Diags);
  if (Launch.isWanted()) {
    Launch.Inputs.add(Session.sources());
    Expected<bool> IsDone = sweep::launch(*S, commandLine(*S), Launch, outs());
    if (!IsDone)
      return failure(IsDone.takeError(), ExitEnvironment);
    if (!*IsDone)
      return ExitSuccess;
  }
  InputFiles Inputs;
  Inputs.add(Session.sources());
  Expected<int64_t> Accepted = sweep::runAndShow(
      Session, *S, runOptions(*S, std::move(*Drawn), Inputs), Diags);
  if (!Accepted)
    return failure(Accepted.takeError(), ExitEnvironment);
  outs().flush(); // diagnostics follow it, also in a pipe
  const bool IsInVain = *Accepted == 0 && S->Of.Count == 1; // of no shard
  const ExitCode Code = showMessages(Diags, Session.sources());
  return IsInVain ? ExitDiagnosed : Code;
}

static cl::list<std::string> MergeShards(cl::Positional,
                                         cl::desc("<shard.db>..."),
                                         jobOption(mergeCommand()));
static cl::opt<std::string> Merged("o", cl::value_desc("file.db"),
                                   cl::desc("Database of all shards"),
                                   outputOption(mergeCommand()));

ExitCode runMerge() {
  if (MergeShards.empty() || Merged.empty())
    return usageError("merge: shards or -o are missing, for example "
                      "`foretrace merge a.db b.db -o all.db`");
  Error E = sweep::Database::merge(MergeShards, Merged);
  return E ? failure(std::move(E), ExitEnvironment) : ExitSuccess;
}

} // namespace foretrace
