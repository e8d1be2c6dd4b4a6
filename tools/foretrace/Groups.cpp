// SPDX-License-Identifier: Apache-2.0
//
// `foretrace groups`: which ranks communicate with each other, and over what.
#include "tools/driver/FormatOption.h"
#include "tools/driver/GroupPrinter.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace {

static driver::FormatOption GroupsFormat(groupsCommand(), outputCategory(),
                                         "Format of groups:");

static cl::list<std::string> Only("group", cl::value_desc("name"),
                                  cl::CommaSeparated,
                                  cl::desc("Print only these groups"),
                                  outputOption(groupsCommand()));

static cl::opt<int64_t> OfRank("rank", cl::value_desc("n"),
                               cl::desc("Print only the groups of this rank"),
                               outputOption(groupsCommand()));

static cl::opt<bool> Summary(
    "summary",
    cl::desc("Print one line per kind of group: ranks per group, number of "
             "groups, and the cluster tiers that connect them"),
    outputOption(groupsCommand()));

static bool isOfRank() { return OfRank.getNumOccurrences() != 0; }

static ExitCode checkOptions() {
  if (Summary && isOfRank())
    return usageError("groups: --summary covers all ranks; leave out --rank");
  const ArrayRef<StringRef> Known = ir::allGroupNames();
  for (const std::string &Name : Only)
    if (!is_contained(Known, Name))
      return usageError("--group: `" + Name + "` is not a group; there are " +
                        join(Known, ", "));
  return ExitSuccess;
}

ExitCode runGroups() {
  if (jobPath().empty())
    return usageError("groups: a job is missing, for example "
                      "`foretrace groups job.fore`");
  if (ExitCode Code = checkOptions())
    return Code;
  Compiler Session;
  DiagnosticEngine Diags = makeEngine();
  const FrontendOptions Options = jobOptions(Session, Diags);
  CompiledJob &Job = Session.read(jobPath(), Options, Diags);
  const ir::Program *P = Job.program({ir::Fact::Complete});
  if (!P)
    return showMessages(Job.engine(), Session.sources());
  const int64_t World = *P->Spec.Parallel.World;
  if (isOfRank() && (OfRank < 0 || OfRank >= World))
    return usageError("--rank: the job has no rank " + Twine(OfRank) +
                      "; its ranks are from 0 to " + Twine(World - 1));
  const auto One = isOfRank() ? std::optional<int64_t>(OfRank) : std::nullopt;
  driver::GroupPrinter Printer(*P, Summary, GroupsFormat, outs());
  for (const ir::ProcessGroup &G : ir::allProcessGroups()) {
    if (!Only.empty() && !is_contained(Only, G.Name))
      continue;
    Summary ? Printer.printKind(G) : Printer.printGroups(G, One);
  }
  return showMessages(Job.engine(), Session.sources());
}

} // namespace foretrace
