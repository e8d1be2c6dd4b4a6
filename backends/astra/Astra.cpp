// SPDX-License-Identifier: Apache-2.0
//
// The `astra-sim` backend: what ASTRA-sim needs beside Chakra traces, from the
// cluster of the job.
#include "analysis/Flows.h"
#include "backends/CommandLine.h"
#include "backends/EmissionOf.h"
#include "backends/astra/Writers.h"
#include "backends/chakra/ChakraCollectives.h"
#include "ir/model/OpKinds.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::astra;

/// Suffix of the script's name, after the job's name.
constexpr llvm::StringLiteral ScriptEnd = "astra-sim.sh";

FactSet astra::needs(const Options &) {
  return {Fact::Scheduled, Fact::Sync, Fact::Costs};
}

/// Returns where each `emit chakra` of the job writes to.
static std::vector<FileNames> traceNames(const Spec &S) {
  DiagnosticEngine Known; // the backend itself reports these
  std::vector<FileNames> Names;
  for (const EmitSpec &E : S.Emits) {
    if (E.Backend != "chakra")
      continue;
    FileNames &N = Names.emplace_back();
    if (const NamedAttribute *Dir = E.Options.find("dir"))
      option::FolderName::read(Dir->Value, N.Dir, Known);
    if (const NamedAttribute *Name = E.Options.find("name"))
      option::FilePrefix::read(Name->Value, N.Name, Known);
  }
  return Names;
}

/// Returns where the files go: to the traces unless the block has a folder.
static FileNames filesOf(const EmitRequest &Request, const Options &O) {
  FileNames Files = O.Files;
  const std::vector<FileNames> Traces = traceNames(Request.Program.Spec);
  if (Traces.empty())
    return Files;
  if (!Request.Emit.Options.find("dir"))
    Files.Dir = Traces.front().Dir;
  if (!Request.Emit.Options.find("name"))
    Files.Name = Traces.front().Name;
  return Files;
}

static void checkFiles(const EmitRequest &Request, const FileNames &Files,
                       DiagnosticEngine &Diags) {
  const std::string Path = Files.path(Request, "*.et");
  auto IsThere = [&](const FileNames &N) {
    return N.path(Request, "*.et") == Path;
  };
  const std::vector<FileNames> Traces = traceNames(Request.Program.Spec);
  if (!Traces.empty() && llvm::none_of(Traces, IsThere)) {
    const NamedAttribute *A = Request.Emit.Options.find("dir");
    if (!A)
      A = Request.Emit.Options.find("name");
    Diags.report(A->Value.Range, diag::AstraTraces, Path,
                 Traces.front().path(Request, "*.et"));
  }
  const llvm::StringRef Stem = Files.stem(Request);
  if (Stem.contains("empty"))
    Diags.report(Request.Emit.Range, diag::AstraName, Stem);
}

/// Reports a missing device rate that ASTRA-sim divides by.
static void checkDevice(const Spec &S, const Options &O,
                        DiagnosticEngine &Diags) {
  const DeviceSpec Device = S.rooflineDevice();
  const SourceRange Range = S.Cluster->Range;
  if (!Device.MemoryBandwidth.isPresent())
    Diags.report(Range, diag::MissingKey, "device", "memory_bandwidth",
                 "3350 GB/s");
  if (!Device.PeakFlops.isPresent() && hasRoofline(S, O))
    Diags.report(Range, diag::MissingKey, "device", "peak_flops", "989.4e12");
}

/// Reports a roofline of merged computations.
static void checkFused(const EmitRequest &Request, const Options &O,
                       DiagnosticEngine &Diags) {
  const Spec &S = Request.Program.Spec;
  if (!hasRoofline(S, O))
    return;
  DiagnosticEngine Known; // the backend itself reports these
  for (const EmitSpec &E : S.Emits) {
    const NamedAttribute *Fuse = E.Options.find("fuse");
    bool IsFused = false;
    if (E.Backend == "chakra" && Fuse)
      option::Flag::read(Fuse->Value, IsFused, Known);
    if (IsFused)
      Diags.report(Request.Emit.Range, diag::AstraFusedRoofline);
  }
}

namespace {

/// Checks that a network can run the collectives of a program.
class CollectiveCheck {
public:
  CollectiveCheck(const EmitRequest &Request, const Options &O,
                  llvm::ArrayRef<NetworkDimension> Dimensions,
                  DiagnosticEngine &Diags)
      : Request(Request), P(Request.Program), O(O), Dimensions(Dimensions),
        Diags(Diags) {}

  void run();

private:
  void checkAlgorithm(const CollectiveRow &Row,
                      const Located<CollectiveImplementation> &Chosen,
                      const Op &Collective);
  void checkSplits(const ChakraCollective &Row, const Op &Gather);
  void checkEffects();
  void checkExchanges();

  const EmitRequest &Request;
  const Program &P;
  const Options &O;
  const llvm::ArrayRef<NetworkDimension> Dimensions;
  DiagnosticEngine &Diags;
};

} // namespace

/// Groups of all ranks use each dimension in turn. Others use a ring, unless
/// there is only one dimension: then they use its algorithm.
void CollectiveCheck::checkAlgorithm(
    const CollectiveRow &Row, const Located<CollectiveImplementation> &Chosen,
    const Op &Collective) {
  const int64_t Size = Collective.Group.size(P.Mesh);
  const int64_t World = *P.Spec.Parallel.World;
  if (Size < World && Dimensions.size() > 1)
    return;
  if (Size < World && *Chosen == CollectiveImplementation::DoubleBinaryTree) {
    Diags.report(Chosen.Range, diag::AstraTreeGroup, Size, World);
    return;
  }
  if (!needsPowerOfTwo(*Chosen))
    return;
  auto Check = [&](llvm::StringRef Of, int64_t Ranks) {
    if (!llvm::isPowerOf2_64(static_cast<uint64_t>(Ranks)))
      Diags.report(Chosen.Range, diag::AstraPowerOfTwo, Row.Option,
                   getName(*Chosen), Of, Ranks);
  };
  if (Size < World)
    return Check(Collective.Group.name(P.Spec, P.Mesh), Size);
  for (const NetworkDimension &D : Dimensions)
    Check(D.Tier->Name, D.Ranks);
}

/// A part of an all-gather that has no bytes never ends.
void CollectiveCheck::checkSplits(const ChakraCollective &Row,
                                  const Op &Gather) {
  const Bytes Message = messageBytes(P, Gather);
  if (Message.isOverflow())
    return; // more than parts, and `emit chakra` refuses it
  const int64_t Share = inputBytes(Row, Message, Gather.Group.size(P.Mesh));
  if (Share >= O.Splits)
    return;
  const NamedAttribute *A = Request.Emit.Options.find("splits");
  Diags.report(A ? A->Value.Range : Request.Emit.Range, diag::AstraSplits,
               Share, O.Splits);
}

/// Reports algorithms that no collective runs with. A ring is what all others
/// run with, too.
void CollectiveCheck::checkEffects() {
  const int64_t World = *P.Spec.Parallel.World;
  for (auto [Row, Chosen] : llvm::zip(Collectives, O.Chosen)) {
    const OpKind Kind = Row.Kind;
    auto HasEffect = [&](const Op &Of) {
      const ChakraCollective *As = findChakraCollective(Of.Kind);
      return As && As->As == Kind && Of.Group.size(P.Mesh) == World;
    };
    if (Chosen.isPresent() && *Chosen != CollectiveImplementation::Ring &&
        llvm::none_of(P.Blocks, [&](const Block &B) {
          return llvm::any_of(B.Ops, HasEffect);
        }))
      Diags.report(Chosen.Range, diag::AstraNoEffect, Row.Option,
                   getName(*Chosen), Dimensions.size(), World);
  }
}

/// Reports all-to-alls of groups that do not contain all ranks. In the ring of
/// n that they run on, each part goes over as many links as its receiver is
/// ranks away (ASTRA-sim, Ring.cc: n (n - 1) / 2 steps of 1 / n).
void CollectiveCheck::checkExchanges() {
  ExprOverlay Sizes(P);
  FlowCounter Counter(Sizes, FlowSpan::Iteration);
  const int64_t World = *P.Spec.Parallel.World;
  std::map<std::string, std::pair<__int128, const Flow *>> Most;
  std::map<std::pair<unsigned, std::string>, __int128> OfStages;
  for (const Flow &F : Counter.flows()) {
    if (F.By != OpKind::AllToAll || F.Of.size(P.Mesh) <= 2 ||
        F.Of.size(P.Mesh) == World)
      continue;
    const std::string Name = textOf(F.Of, P.Spec, P.Mesh);
    const __int128 Sum = OfStages[{F.Stage, Name}] += F.Message.value();
    auto &[Largest, Of] = Most[Name];
    Largest = std::max(Largest, Sum);
    Of = &F;
  }
  for (const auto &[Name, Row] : Most) {
    const int64_t Ranks = Row.second->Of.size(P.Mesh);
    const __int128 Sent = Row.first * (Ranks - 1);
    auto Narrow = [](__int128 Bytes) {
      return static_cast<int64_t>(std::min<__int128>(Bytes, INT64_MAX));
    };
    Diags.report(Request.Emit.Range, diag::AstraToAll, Name, Ranks, World,
                 Narrow(Sent / 2), Narrow(Sent / Ranks),
                 std::to_string(Ranks / 2) + (Ranks % 2 == 0 ? "" : ".5"));
  }
}

void CollectiveCheck::run() {
  if (Dimensions.size() > 1) {
    checkEffects();
    checkExchanges();
  }
  for (const Block &B : P.Blocks)
    for (const Op &Collective : B.Ops) {
      const ChakraCollective *As = findChakraCollective(Collective.Kind);
      if (!As || Collective.Group.size(P.Mesh) == 1)
        continue;
      for (auto [Row, Chosen] : llvm::zip(Collectives, O.Chosen))
        if (Row.Kind == As->As && Chosen.isPresent())
          checkAlgorithm(Row, Chosen, Collective);
      if (As->As == OpKind::AllGather)
        checkSplits(*As, Collective);
    }
}

/// Warns of sharded parameters: docs/simulators.md, beside `foretrace time`.
static void checkShards(const ParallelSpec &Parallel, DiagnosticEngine &Diags) {
  if (*Parallel.Zero != 3)
    return;
  const bool IsHybrid =
      Parallel.DpShard.isPresent() && *Parallel.DpShard < *Parallel.Dp;
  Diags.report(Parallel.Zero.Range, diag::AstraShards,
               IsHybrid ? "`zero = 3` and `dp_shard`" : "`zero = 3`",
               IsHybrid ? "13 to 17" : "25 to 34");
}

static void checkCluster(const EmitRequest &Request, const Options &O,
                         DiagnosticEngine &Diags) {
  const Spec &S = Request.Program.Spec;
  const Located<int64_t> &World = S.Parallel.World;
  checkDevice(S, O, Diags);
  if (*World == 1)
    Diags.report(World.Range, diag::ChakraWorld, INT32_MAX, *World);
  else if (checkGrid(S, Diags)) {
    checkShards(S.Parallel, Diags);
    CollectiveCheck(Request, O, dimensionsOf(*S.Cluster, *World, O.Network),
                    Diags)
        .run();
    checkLinks(Request, O.Network, Diags);
  }
}

/// Reports jobs that are no grid on their cluster, and what ASTRA-sim would
/// take and never end.
bool astra::check(const EmitRequest &Request, const Options &O,
                  DiagnosticEngine &Diags) {
  const unsigned Before = Diags.errorCount();
  checkFiles(Request, filesOf(Request, O), Diags);
  checkFused(Request, O, Diags);
  if (Request.Program.Spec.Cluster)
    checkCluster(Request, O, Diags);
  else
    Diags.report(Request.Emit.Range, diag::EmitNoCluster, Request.Emit.Backend);
  return Diags.errorCount() == Before;
}

llvm::Error astra::emit(const EmitRequest &Request, const Options &O,
                        OutputSet &Out) {
  const FileNames Files = filesOf(Request, O);
  const Spec &S = Request.Program.Spec;
  const int64_t World = *S.Parallel.World;
  const std::vector<NetworkDimension> Dimensions =
      dimensionsOf(*S.Cluster, World, O.Network);
  auto Add = [&](llvm::StringRef End, auto Write) {
    return Out.add(Files.path(Request, End), Write);
  };
  if (llvm::Error E = Add("network.yml", [&](llvm::raw_ostream &OS) {
        writeNetwork(Dimensions, OS);
      }))
    return E;
  if (llvm::Error E = Add("system.json", [&](llvm::raw_ostream &OS) {
        writeSystem(S, O, Dimensions, OS);
      }))
    return E;
  if (llvm::Error E = Add("memory.json", writeMemory))
    return E;
  return Add(ScriptEnd, [&](llvm::raw_ostream &OS) {
    writeScript(Files.stem(Request), World, O.Network, OS);
  });
}

/// Runs the script among the files.
std::string astra::showCommand(const EmitRequest &, const Options &,
                               llvm::StringRef File) {
  return File.ends_with(ScriptEnd) ? "sh " + shellQuoted(File) : "";
}
