// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/LaunchOptions.h"
#include "tools/foretrace/Commands.h"
#include "llvm/Support/StringSaver.h"

using namespace llvm;

namespace foretrace {

using sweep::LaunchEngine;

static cl::opt<LaunchEngine>
    Engine("engine", cl::desc("How to run the shards of --shards:"),
           cl::values(clEnumValN(LaunchEngine::Local, "local",
                                 "processes on this machine (default)"),
                      clEnumValN(LaunchEngine::Slurm, "slurm",
                                 "a job array of Slurm")),
           cl::init(LaunchEngine::Local), cl::cat(outputCategory()),
           cl::sub(sweepCommand()));
static cl::opt<unsigned> Shards(
    "shards", cl::value_desc("n"),
    cl::desc("Split the sweep into this many processes and merge the results"),
    cl::cat(outputCategory()), cl::sub(sweepCommand()));
static cl::list<std::string>
    Slurm("slurm", cl::value_desc("arguments"),
          cl::desc("Options of sbatch, such as '--partition=long --time=60'"),
          cl::cat(outputCategory()), cl::sub(sweepCommand()));
static cl::opt<bool>
    Wait("wait", cl::desc("Wait for the Slurm jobs and print the summary"),
         cl::cat(outputCategory()), cl::sub(sweepCommand()));

/// The words of --slurm, cut where a shell would.
static std::vector<std::string> slurmWords() {
  BumpPtrAllocator Memory;
  StringSaver Saver(Memory);
  SmallVector<const char *, 8> Words;
  for (const std::string &Text : Slurm)
    cl::TokenizeGNUCommandLine(Text, Saver, Words);
  return {Words.begin(), Words.end()};
}

sweep::LaunchOptions launchOptions() {
  sweep::LaunchOptions Options;
  Options.Engine = Engine;
  if (Shards.getNumOccurrences() != 0)
    Options.Shards = Shards;
  Options.Slurm = slurmWords();
  Options.Waits = Wait;
  return Options;
}

} // namespace foretrace
