// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Slurm.h"
#include "tools/output/FileOutputs.h"
#include "tools/sweep/WriteLock.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <thread>

using namespace llvm;

namespace foretrace::sweep {

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

/// Which job it became.
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

Expected<SlurmJobs> submit(const Parts &P, ArrayRef<std::string> Arguments,
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

/// Whether the merge has not ended.
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

Error waitFor(const SlurmJobs &Jobs, const Parts &P) {
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
  // A change to a folder shows what other machines have put there.
  if (Expected<WriteLock> Lock = WriteLock::take(P.Output); !Lock)
    return Lock.takeError();
  if (!sys::fs::exists(P.Output))
    return createStringError(
        "`" + P.Output + "`: the jobs ended without it; their logs are in `" +
        P.Folder + "`");
  return Error::success();
}

} // namespace foretrace::sweep
