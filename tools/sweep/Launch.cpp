// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Launch.h"
#include "tools/output/FileOutputs.h"
#include "tools/sweep/Report.h"
#include "tools/sweep/Shell.h"
#include "tools/sweep/WriteLock.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/Threading.h"
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

using namespace llvm;

namespace foretrace::sweep {

namespace {

/// One process of a sweep.
struct Part {
  std::string Name;                 ///< as messages have it
  std::vector<std::string> Command; ///< of the folder that we are in
};

/// The commands for the shards of a sweep, and the one that merges their
/// results. They run on this machine or on a cluster.
struct Parts {
  /// Divides the sweep of \p Command into \p Count shards. Their files are in a
  /// folder beside \p Output, with other names for each \p Count.
  Parts(ArrayRef<std::string> Command, StringRef Output, unsigned Count);

  /// A file of a shard, in the folder.
  static std::string fileOf(const Twine &Shard, unsigned Count,
                            StringRef Suffix);

  std::string Output; ///< the database that all is merged to
  std::string Folder;
  std::vector<Part> Shards; ///< the first one is 1
  Part Merge;               ///< once all shards are done
};

/// The jobs that `sbatch` answers.
struct SlurmJob {
  std::string Id;
  std::string Cluster; ///< empty: the local cluster
};

struct SlurmJobs {
  SlurmJob Array, Merge;

  /// The command that shows them.
  std::vector<std::string> squeue() const;
};

} // namespace

std::string Parts::fileOf(const Twine &Shard, unsigned Count,
                          StringRef Suffix) {
  return (Shard + "-of-" + Twine(Count) + Suffix).str();
}

Parts::Parts(ArrayRef<std::string> Command, StringRef Output, unsigned Count)
    : Output(Output), Folder((Output + ".shards").str()) {
  Merge = {"merge", {Command.front(), "merge"}};
  for (unsigned I = 1; I <= Count; ++I) {
    const std::string Text = Shard{I, Count}.text();
    SmallString<128> Database(Folder);
    sys::path::append(Database, fileOf(Twine(I), Count, ".db"));
    Part &P = Shards.emplace_back(Part{"shard " + Text, Command});
    append_values(P.Command, "--shard=" + Text, "-o", Database.str().str());
    Merge.Command.push_back(Database.str().str());
  }
  append_values(Merge.Command, "-o", Output.str());
}

/// Returns whether \p Output has all points of \p S; an error if it is anything
/// but a database, or has only some points: parts do not continue those.
static Expected<bool> isDone(const Sweep &S, StringRef Output) {
  if (!sys::fs::exists(Output))
    return false;
  Expected<Database> DB = Database::open(Output, S);
  if (!DB)
    return DB.takeError();
  Expected<std::vector<int64_t>> Units = DB->done(S);
  if (!Units)
    return Units.takeError();
  if (static_cast<int64_t>(Units->size()) != Engine(S).units())
    return createStringError("`" + Output +
                             "`: was begun as a whole; go on without --shards, "
                             "say another file with -o, or remove it");
  return true;
}

static Error makeFolder(const Parts &P) {
  std::error_code Code = sys::fs::create_directory(P.Folder);
  if (!Code && !sys::fs::is_directory(P.Folder))
    Code = make_error_code(errc::not_a_directory);
  return Code ? createStringError("`" + P.Folder +
                                  "`: cannot be made: " + Code.message())
              : Error::success();
}

static Error run(const Part &P) {
  Expected<Outcome> Of = capture(P.Command);
  if (!Of)
    return Of.takeError();
  return Of->Code == 0 ? Error::success()
                       : createStringError(P.Name + ": " + Of->reason());
}

/// Runs \p P on this machine, \p AtOnce shards at a time.
static Error runHere(const Parts &P, unsigned AtOnce) {
  if (Error E = makeFolder(P))
    return E;
  std::mutex Guard;
  Error Failed = Error::success();
  std::atomic<bool> HasFailed = false;
  DefaultThreadPool Pool(hardware_concurrency(AtOnce));
  for (const Part &Shard : P.Shards)
    Pool.async([&] {
      if (HasFailed) // the next ones would likely fail alike
        return;
      if (Error E = run(Shard)) {
        HasFailed = true;
        const std::lock_guard<std::mutex> Lock(Guard);
        Failed = joinErrors(std::move(Failed), std::move(E));
      }
    });
  Pool.wait();
  return Failed ? std::move(Failed) : run(P.Merge);
}

/// The batch script of a job, whose last line is \p Run.
static void writeScript(raw_ostream &OS, StringRef Purpose,
                        StringRef WorkingFolder, StringRef Run) {
  OS << "#!/bin/sh\n# " << Purpose << "\n"
     << "cd " << quoted(WorkingFolder) << " || exit 3\n"
     << Run;
}

/// Starts the shard that a task of the array is.
static std::string runOfTask(ArrayRef<Part> Shards) {
  std::string Run = "case $SLURM_ARRAY_TASK_ID in\n";
  for (const auto &[Index, Shard] : enumerate(Shards))
    Run +=
        std::to_string(Index + 1) + ") exec " + quoted(Shard.Command) + " ;;\n";
  return Run + "esac\necho \"there is no shard $SLURM_ARRAY_TASK_ID\" >&2\n"
               "exit 2\n";
}

/// For the array, and for the merge. Jobs start in \p Here.
static Error writeScripts(const Parts &P, StringRef Here, StringRef OfArray,
                          StringRef OfMerge, const InputFiles &Inputs) {
  FileOutputs Scripts("", "", OutputOptions(), Inputs);
  if (Error E = Scripts.add(OfArray, [&](raw_ostream &OS) {
        writeScript(OS, "A task of a job array does a shard of a sweep.", Here,
                    runOfTask(P.Shards));
      }))
    return E;
  if (Error E = Scripts.add(OfMerge, [&](raw_ostream &OS) {
        writeScript(OS, "Puts together what the shards found.", Here,
                    "exec " + quoted(P.Merge.Command) + "\n");
      }))
    return E;
  return Scripts.commit();
}

/// Submits a job and returns its number.
static Expected<SlurmJob> runSbatch(ArrayRef<std::string> Command) {
  Expected<Outcome> Of = capture(Command);
  if (!Of)
    return createStringError("--engine=slurm: " + toString(Of.takeError()));
  if (Of->Code != 0)
    return createStringError("`sbatch` refuses: " + Of->reason());
  const auto [Id, Cluster] = StringRef(Of->Output).trim().split(';');
  if (Id.empty() || !all_of(Id, isDigit))
    return createStringError("`sbatch` names no job: `" +
                             StringRef(Of->Output).trim() + "`");
  return SlurmJob{Id.str(), Cluster.str()};
}

std::vector<std::string> SlurmJobs::squeue() const {
  std::vector<std::string> Command = {"squeue"};
  if (!Array.Cluster.empty())
    Command.push_back("--clusters=" + Array.Cluster);
  append_values(Command, "--jobs=" + Array.Id + "," + Merge.Id);
  return Command;
}

/// Has Slurm run the shards as a job array, and the merge as a job that waits
/// for them. The machines share the folder that we are in. Writes a script for
/// the array and one for the merge into the folder of \p P, and submits them
/// with \p Arguments for `sbatch`. None of \p Inputs is replaced.
static Expected<SlurmJobs> submit(const Parts &P,
                                  ArrayRef<std::string> Arguments,
                                  const InputFiles &Inputs) {
  SmallString<256> Here, Folder = StringRef(P.Folder);
  if (std::error_code Code = sys::fs::current_path(Here))
    return createStringError("this folder has no name: " + Code.message());
  sys::fs::make_absolute(Here, Folder);
  if (Error E = makeFolder(P))
    return E;
  const std::string ArrayScript = (Folder + "/sweep.sh").str(),
                    MergeScript = (Folder + "/merge.sh").str();
  if (Error E = writeScripts(P, Here, ArrayScript, MergeScript, Inputs))
    return E;
  // Logs lie where a job starts: the folder may have a name in which Slurm
  // would replace something. What a user says comes later, and counts.
  const auto Count = static_cast<unsigned>(P.Shards.size());
  auto Command = [&](const Twine &Log) {
    std::vector<std::string> Words = {"sbatch",
                                      "--parsable",
                                      "--job-name=" +
                                          sys::path::filename(P.Output).str(),
                                      ("--chdir=" + Folder).str(),
                                      ("--output=" + Log).str(),
                                      "--open-mode=append",
                                      "--requeue"};
    append_range(Words, Arguments);
    return Words;
  };
  std::vector<std::string> OfArray =
      Command(Parts::fileOf("%a", Count, ".log"));
  append_values(OfArray, "--array=1-" + std::to_string(Count), ArrayScript);
  Expected<SlurmJob> Array = runSbatch(OfArray);
  if (!Array)
    return Array.takeError();

  std::vector<std::string> OfMerge = Command("merge.log");
  append_values(OfMerge, "--dependency=afterok:" + Array->Id,
                "--kill-on-invalid-dep=yes", // it would wait for ever
                MergeScript);
  Expected<SlurmJob> Merge = runSbatch(OfMerge);
  if (!Merge)
    return createStringError(toString(Merge.takeError()) +
                             "; the shards are job " + Array->Id +
                             "; once it has ended, `sh " +
                             quoted(StringRef(MergeScript)) + "` merges them");
  return SlurmJobs{std::move(*Array), std::move(*Merge)};
}

/// Returns whether the job of the merge still exists.
static Expected<bool> isThere(const SlurmJobs &Jobs) {
  std::vector<std::string> Command = Jobs.squeue();
  Command.back() = "--jobs=" + Jobs.Merge.Id;
  append_values(Command, "--noheader", "--format=%T");
  Expected<Outcome> Of = capture(Command);
  if (!Of)
    return Of.takeError();
  if (Of->Code == 0)
    return !StringRef(Of->Output).trim().empty();
  if (StringRef(Of->Errors).contains("Invalid job id")) // ended long ago
    return false;
  return createStringError("`squeue` fails: " + Of->reason());
}

/// Waits for the merge. An error if the database is not there then.
static Error waitFor(const SlurmJobs &Jobs, const Parts &P) {
  constexpr unsigned MaxSeconds = 30;  // who controls a cluster is busy
  constexpr unsigned MaxFailures = 10; // in a row: it may be started anew
  unsigned Failures = 0;
  for (unsigned Seconds = 1;; Seconds = std::min(Seconds + 1, MaxSeconds)) {
    Expected<bool> Waits = isThere(Jobs);
    if (Waits && !*Waits)
      break;
    Failures = Waits ? 0 : Failures + 1;
    if (Failures == MaxFailures)
      return createStringError("the jobs go on, but cannot be waited for: " +
                               toString(Waits.takeError()));
    consumeError(Waits.takeError());
    std::this_thread::sleep_for(std::chrono::seconds(Seconds));
  }
  // Changing a folder makes files of other machines visible in it.
  if (Expected<WriteLock> Lock = WriteLock::take(P.Output); !Lock)
    return Lock.takeError();
  if (!sys::fs::exists(P.Output))
    return createStringError(
        "`" + P.Output + "`: the jobs ended without it; their logs are in `" +
        P.Folder + "`");
  return Error::success();
}

Error LaunchOptions::check(bool ShowsMore) const {
  constexpr unsigned MaxShards = 10000; // a command line names each
  const bool IsSlurm = Engine == LaunchEngine::Slurm;
  if (!Slurm.empty() && !IsSlurm)
    return createStringError("--slurm: needs --engine=slurm");
  if (!isWanted())
    return Error::success();
  if (!Shards)
    return createStringError("--engine=slurm: --shards is missing, the number "
                             "of tasks");
  if (*Shards < 1 || *Shards > MaxShards)
    return createStringError("--shards: it is from 1 to " + Twine(MaxShards));
  if (Output.empty())
    return createStringError("--shards: -o is missing, the file of all shards");
  if (IsSlurm && ShowsMore && !Waits)
    return createStringError("--why: needs --wait");
  for (const StringRef Word : Slurm)
    if (Word.starts_with("--array") ||
        (Word.starts_with("-a") && !Word.starts_with("--")))
      return createStringError("--slurm: the array is that of --shards, not `" +
                               Word + "`");
  return Error::success();
}

static Error launchHere(std::vector<std::string> Command,
                        const LaunchOptions &Options) {
  const unsigned Threads = Options.Threads != 0
                               ? Options.Threads
                               : hardware_concurrency().compute_thread_count();
  const unsigned AtOnce = std::min(*Options.Shards, Threads);
  Command.push_back("--threads=" + std::to_string(Threads / AtOnce));
  return runHere(Parts(Command, Options.Output, *Options.Shards), AtOnce);
}

static Error launchOnSlurm(std::vector<std::string> Command,
                           const LaunchOptions &Options, raw_ostream &OS) {
  if (Options.Threads != 0)
    Command.push_back("--threads=" + std::to_string(Options.Threads));
  const Parts P(Command, Options.Output, *Options.Shards);
  Expected<SlurmJobs> Jobs = submit(P, Options.Slurm, Options.Inputs);
  if (!Jobs)
    return Jobs.takeError();
  OS << "job " << Jobs->Array.Id << ": " << *Options.Shards << " shards; job "
     << Jobs->Merge.Id << ": merges them to `" << P.Output
     << "`\nto see them: " << quoted(Jobs->squeue())
     << "\nwhat they print: " << P.Folder << "/*.log\n";
  OS.flush(); // seen while they run
  return Options.Waits ? waitFor(*Jobs, P) : Error::success();
}

Expected<bool> launch(const Sweep &S, ArrayRef<std::string> Command,
                      const LaunchOptions &Options, raw_ostream &OS) {
  Expected<bool> IsDone = isDone(S, Options.Output);
  if (!IsDone || *IsDone)
    return IsDone;
  const bool IsSlurm = Options.Engine == LaunchEngine::Slurm;
  if (Error E = IsSlurm ? launchOnSlurm(Command, Options, OS)
                        : launchHere(Command, Options))
    return E;
  return !IsSlurm || Options.Waits;
}

} // namespace foretrace::sweep
