// SPDX-License-Identifier: Apache-2.0
//
// The `simai-net` backend: the cluster of the job as a topology for SimAI's
// ns-3 simulator, and a script that runs either of SimAI's simulators on the
// table of `emit simai`.
#include "backends/CommandLine.h"
#include "backends/EmissionOf.h"
#include "backends/ranks/RankFiles.h"
#include "backends/simai/SimaiServers.h"
#include "backends/simainet/Topology.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::simainet;
using namespace foretrace::option;

struct simainet::Options {
  FileNames Files;
  SimaiServers Servers; ///< stated by the job, without its cluster
};

constexpr EmitOption simainet::OptionRows[] = {
#include "backends/simainet/Options.def"
};
constexpr EmitReader simainet::Reader = readerOf<Options>(OptionRows);

/// Suffix of the script's name, after the job's name.
constexpr llvm::StringLiteral ScriptEnd = "simai-net.sh";

FactSet simainet::needs(const Options &) { return {Fact::Complete}; }

/// The `emit simai` block of the job, or null.
static const EmitSpec *findTable(const Spec &S) {
  for (const EmitSpec &E : S.Emits)
    if (E.Backend == "simai")
      return &E;
  return nullptr;
}

/// Returns the servers of a job; those missing in the block are taken from
/// `emit simai`.
static SimaiServers serversOf(const EmitRequest &Request, const Options &O) {
  DiagnosticEngine Known; // `emit simai` reports these
  const Spec &S = Request.Program.Spec;
  SimaiServers Stated = O.Servers;
  if (const EmitSpec *Table = findTable(S)) {
    const Attribute &Says = Table->Options;
    const NamedAttribute *A = Says.find("gpu");
    if (A && !Request.Emit.Options.find("gpu"))
      option::Gpu::read(A->Value, Stated.Gpu, Known);
    if ((A = Says.find("nvlink_bandwidth")))
      option::Rate::read(A->Value, Stated.NvlinkBandwidth, Known);
    if ((A = Says.find("nic_bandwidth")))
      option::Rate::read(A->Value, Stated.NicBandwidth, Known);
  }
  return SimaiServers::of(S, Stated);
}

static bool checkServers(const Spec &S, DiagnosticEngine &Diags) {
  const Located<int64_t> &World = S.Parallel.World;
  const TierSpec &Inner = S.Cluster->Tiers.front();
  const int64_t Size = *Inner.Devices;
  if (*World <= Size || *World % Size == 0)
    return true;
  const int64_t Over = *World % Size, Below = *World - Over;
  const bool IsAbove =
      Over * 2 > Size && Below + Size <= S.Cluster->deviceCount();
  Diags
      .report(World.Range, diag::SimaiNetWorld, *World, Size,
              IsAbove ? Below + Size : Below)
      .noteValue("devices", Inner.Devices);
  return false;
}

static void checkLinks(const Spec &S, DiagnosticEngine &Diags) {
  const Topology Of = topologyOf(*S.Cluster, *S.Parallel.World);
  for (const LinkRun &R : Of.Runs)
    if ((R.Rate * 8).isOverflow() || R.Delay.isOverflow())
      Diags.report(R.Tier->Range, diag::SizeOverflow,
                   "the rate or the delay of a link");
}

/// Reports jobs and clusters that are not of servers around an NVSwitch.
bool simainet::check(const EmitRequest &Request, const Options &,
                     DiagnosticEngine &Diags) {
  const unsigned Before = Diags.errorCount();
  const Spec &S = Request.Program.Spec;
  if (!S.Cluster) {
    Diags.report(Request.Emit.Range, diag::EmitNoCluster, Request.Emit.Backend);
    return false;
  }
  for (const TierSpec &T : S.Cluster->Tiers)
    if (*T.Topology != TopologyKind::Switch)
      Diags.report(T.Topology.Range, diag::SimaiNetTopology, T.Name,
                   getSpelling(*T.Topology));
  if (checkServers(S, Diags))
    checkLinks(S, Diags);
  return Diags.errorCount() == Before;
}

/// Returns the path of the table of `emit simai`, seen from \p Folder.
static std::string pathOfTable(const EmitRequest &Request,
                               llvm::StringRef Folder) {
  DiagnosticEngine Known; // `emit simai` reports these
  std::string Path;
  if (const EmitSpec *Table = findTable(Request.Program.Spec))
    if (const NamedAttribute *A = Table->Options.find("file"))
      option::FileName::read(A->Value, Path, Known);
  Path = Request.file(Path, ".txt");
  llvm::SmallString<128> Dir(Folder);
  llvm::sys::path::remove_dots(Dir, /*remove_dot_dot=*/true);
  if (llvm::sys::path::is_absolute(Path))
    return Path;
  if (llvm::sys::path::is_absolute(Dir)) {
    llvm::SmallString<128> Whole(Path);
    (void)llvm::sys::fs::make_absolute(Whole); // on failure it stays relative
    return std::string(Whole);
  }
  for (auto I = llvm::sys::path::begin(Dir); I != llvm::sys::path::end(Dir);
       ++I)
    Path = "../" + Path;
  return Path;
}

llvm::Error simainet::emit(const EmitRequest &Request, const Options &O,
                           OutputSet &Out) {
  const SimaiServers Servers = serversOf(Request, O);
  const Spec &S = Request.Program.Spec;
  const int64_t World = *S.Parallel.World;
  const Topology Of = topologyOf(*S.Cluster, World);
  if (llvm::Error E = Out.add(
          O.Files.path(Request, "topology"),
          [&](llvm::raw_ostream &OS) { writeTopology(Of, Servers.Gpu, OS); }))
    return E;
  return Out.add(O.Files.path(Request, ScriptEnd), [&](llvm::raw_ostream &OS) {
    writeScript(Of, O.Files.stem(Request), pathOfTable(Request, O.Files.Dir),
                simaiArguments(Servers, World), OS);
  });
}

/// Runs the script among the files.
std::string simainet::showCommand(const EmitRequest &, const Options &,
                                  llvm::StringRef File) {
  return File.ends_with(ScriptEnd) ? "sh " + shellQuoted(File) + " analytical"
                                   : "";
}
