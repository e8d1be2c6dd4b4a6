// SPDX-License-Identifier: Apache-2.0
//
// `foretrace groups`: which ranks communicate with each other.
#include "ir/Ranks.h"
#include "passes/PassManager.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/Messages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace foretrace {

using ir::Axis;

enum class GroupFormat { Table, JSON };

static cl::opt<GroupFormat> Format(
    "format", cl::desc("How to print groups:"),
    cl::values(clEnumValN(GroupFormat::Table, "table", "a line each (default)"),
               clEnumValN(GroupFormat::JSON, "json", "an object a line")),
    cl::init(GroupFormat::Table), cl::cat(outputCategory()),
    cl::sub(groupsCommand()));

static cl::list<std::string> Only("group", cl::value_desc("name"),
                                  cl::CommaSeparated,
                                  cl::desc("Print these groups only"),
                                  cl::cat(outputCategory()),
                                  cl::sub(groupsCommand()));

static cl::opt<int64_t> OfRank("rank", cl::value_desc("n"), cl::init(-1),
                               cl::desc("Print the groups of this rank only"),
                               cl::cat(outputCategory()),
                               cl::sub(groupsCommand()));

namespace {

class Printer {
public:
  explicit Printer(const ir::Program &P)
      : P(P), Map(P.Mesh, *P.Spec.Parallel.RankOrder) {}

  void print(const ir::ProcessGroup &G) const;

private:
  void line(StringRef Name, ArrayRef<int64_t> Ranks) const;
  /// Calls \p Visit with one rank of every group asked for.
  void forEachGroup(ArrayRef<Axis> Axes,
                    function_ref<void(int64_t)> Visit) const;

  const ir::Program &P;
  const ir::RankMap Map;
};

} // namespace

void Printer::line(StringRef Name, ArrayRef<int64_t> Ranks) const {
  if (Format == GroupFormat::JSON) {
    json::OStream J(outs());
    J.object([&] {
      J.attribute("group", Name);
      J.attributeArray("ranks", [&] {
        for (int64_t Rank : Ranks)
          J.value(Rank);
      });
    });
    J.flush();
  } else {
    outs() << formatv("{0,-10}", Name);
    for (int64_t Rank : Ranks)
      outs() << ' ' << Rank;
  }
  outs() << '\n';
}

void Printer::forEachGroup(ArrayRef<Axis> Axes,
                           function_ref<void(int64_t)> Visit) const {
  if (OfRank >= 0)
    return Visit(OfRank);
  auto IsFirst = [&](int64_t Rank) {
    return all_of(Axes, [&](Axis A) { return Map.coordinate(Rank, A) == 0; });
  };
  for (int64_t Rank = 0; Rank < *P.Spec.Parallel.World; ++Rank)
    if (IsFirst(Rank))
      Visit(Rank);
}

void Printer::print(const ir::ProcessGroup &G) const {
  if (P.Mesh.groupSize(G.Axes) == 1)
    return; // nobody to talk to
  if (G.EndsOnly && !*P.Spec.Model.Tied)
    return; // nothing to share
  forEachGroup(G.Axes, [&](int64_t Rank) {
    const std::vector<int64_t> Members = G.members(Map, Rank);
    if (OfRank < 0 || is_contained(Members, OfRank))
      line(G.Name, Members);
  });
}

static ExitCode checkOptions() {
  std::vector<StringRef> Known;
  for (const ir::ProcessGroup &G : ir::allProcessGroups())
    Known.push_back(G.Name);
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
  SourceMgr Sources;
  DiagnosticEngine Diags = makeEngine();
  ir::Program P;
  if (std::optional<ir::Spec> Spec = readJob(Sources, Diags)) {
    P.Spec = std::move(*Spec);
    runPasses(P, pipelineFor({ir::Fact::Complete}), Diags, {});
  }
  if (Diags.hasErrors())
    return showMessages(Diags, Sources);
  if (OfRank >= *P.Spec.Parallel.World)
    return usageError("--rank: the job has " + Twine(*P.Spec.Parallel.World) +
                      " ranks, from 0");
  const Printer Groups(P);
  for (const ir::ProcessGroup &G : ir::allProcessGroups())
    if (Only.empty() || is_contained(Only, G.Name))
      Groups.print(G);
  return showMessages(Diags, Sources);
}

} // namespace foretrace
