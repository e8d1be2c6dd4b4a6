// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Launch.h"
#include "tools/sweep/Slurm.h"
#include "llvm/Support/Threading.h"

using namespace llvm;

namespace foretrace::sweep {

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
  Expected<bool> IsDone = sweep::isDone(S, Options.Output);
  if (!IsDone || *IsDone)
    return IsDone;
  const bool IsSlurm = Options.Engine == LaunchEngine::Slurm;
  if (Error E = IsSlurm ? launchOnSlurm(Command, Options, OS)
                        : launchHere(Command, Options))
    return E;
  return !IsSlurm || Options.Waits;
}

} // namespace foretrace::sweep
