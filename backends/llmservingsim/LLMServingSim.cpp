// SPDX-License-Identifier: Apache-2.0
//
// The `llmservingsim` backend: the trace of a step that LLMServingSim's
// converter reads, and a cluster of instances that run it (both of 5daddb21,
// docs/docs/reference).
#include "backends/EmissionOf.h"
#include "backends/llmservingsim/TraceRows.h"
#include "backends/ranks/MessageOptions.h"
#include "backends/ranks/RankFiles.h"
#include "backends/ranks/TaskLimits.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;
using namespace foretrace::llmservingsim;

namespace {

/// A name of another tool.
struct Word : KindBase {
  static std::string expected() { return "a name in quotes"; }
  static bool read(const Attribute &A, std::string &Into, DiagnosticEngine &) {
    if (A.K != Attribute::Kind::Text || A.Text.empty())
      return false;
    Into = A.Text;
    return true;
  }
};

} // namespace

struct llmservingsim::Options {
  FileNames Files;
  std::string Model, Hardware; ///< empty: from the job
};

constexpr EmitOption llmservingsim::OptionRows[] = {
#include "backends/llmservingsim/Options.def"
};
constexpr EmitReader llmservingsim::Reader =
    readerOf<llmservingsim::Options>(OptionRows);

FactSet llmservingsim::needs(const Options &) {
  return {Fact::Scheduled, Fact::Sync, Fact::Costs};
}

/// Reports what the cluster file has no word for.
static void checkInstances(const Spec &S, DiagnosticEngine &Diags) {
  const ParallelSpec &Par = S.Parallel;
  auto Refuse = [&](SourceRange Range, const llvm::Twine &What) {
    Diags.report(Range, diag::ServingSimTrace, What.str());
  };
  if (*Par.Dp > 1 && *S.Serve->Replicas > 1)
    Refuse(S.Serve->Replicas.Range,
           "replicas = " + llvm::Twine(*S.Serve->Replicas) +
               " of dp = " + llvm::Twine(*Par.Dp) + " attention replicas");
  const ServeSpec &V = *S.Serve;
  const llvm::StringRef Kv = getSpelling(*V.KvPrecision);
  if (typeOfWeights(S).empty())
    Refuse(V.WeightPrecision.Range,
           "weight_precision = " + getSpelling(*V.WeightPrecision));
  if (Kv != "fp8" && Kv != getSpelling(*V.Precision))
    Refuse(V.KvPrecision.Range, "kv_precision = " + Kv);
  const DeviceSpec &D = S.Cluster->Device;
  if (!D.Memory.isPresent())
    Diags.report(S.Cluster->Range, diag::MissingKey, "device", "memory",
                 "80 GB");
  if (!D.MemoryBandwidth.isPresent())
    Diags.report(S.Cluster->Range, diag::MissingKey, "device",
                 "memory_bandwidth", "3350 GB/s");
}

bool llmservingsim::check(const EmitRequest &Request, const Options &,
                          DiagnosticEngine &Diags) {
  const unsigned Before = Diags.errorCount();
  const Spec &S = Request.Program.Spec;
  if (!S.Serve) {
    Diags.report(Request.Emit.Range, diag::EmitServes, Request.Emit.Backend);
    return false;
  }
  if (S.Cluster)
    checkInstances(S, Diags);
  constexpr double BytesOfRow = 180;
  if (!checkHasTimes(Request, Diags) ||
      !checkMessages(Request, MessageRules(), Diags) ||
      !Request.hasRoom(leastTasks(Request.Program) * BytesOfRow /
                           static_cast<double>(*S.Parallel.World),
                       Diags) ||
      Diags.errorCount() != Before)
    return false;
  forEachRow(Request, Diags, [](const StepRow &) {});
  return Diags.errorCount() == Before;
}

/// Writes fields as the generator pads them (serving/core/utils.py, _FMT).
static void writeRow(llvm::ArrayRef<std::string> Fields,
                     llvm::raw_ostream &OS) {
  constexpr size_t Columns = 11, OfName = 30, OfOthers = 15;
  for (size_t I = 0; I < Columns; ++I)
    OS << llvm::left_justify(I < Fields.size() ? Fields[I] : "",
                             I == 0 ? OfName : OfOthers)
       << (I + 1 < Columns ? " " : "\n");
}

static void writeTrace(const EmitRequest &Request, llvm::raw_ostream &OS) {
  const Spec &S = Request.Program.Spec;
  DiagnosticEngine Known; // check() reported these
  const StepShape Shape = forEachRow(Request, Known, [](const StepRow &) {});
  const llvm::StringRef Pool = poolOf(S);
  OS << (Pool.empty() ? "COLOCATED" : Pool.upper())
     << "\t\tmodel_parallel_NPU_group: " << *S.Parallel.Pp;
  if (!Shape.Boundaries.empty()) {
    OS << "\t\tpp_stage_boundaries: ";
    llvm::interleave(Shape.Boundaries, OS, ",");
  }
  OS << '\n' << Shape.Rows << '\n';
  writeRow({"Layername", "comp_time", "input_loc", "input_size", "weight_loc",
            "weight_size", "output_loc", "output_size", "comm_type",
            "comm_size", "misc"},
           OS);
  int64_t Index = 0;
  forEachRow(Request, Known, [&](const StepRow &R) {
    const bool IsFirst = Index == 0, IsLast = Index + 1 == Shape.Rows;
    const std::string Number = std::to_string(Index++);
    if (R.IsMarker)
      return writeRow({R.Name == "EXPERT END" ? R.Name + " " + R.Message + " " +
                                                    std::to_string(R.Sent)
                                              : R.Name},
                      OS);
    writeRow({R.Name + "_" + Number, std::to_string(R.Time),
              IsFirst ? "REMOTE:0" : "LOCAL", std::to_string(R.Input), "LOCAL",
              std::to_string(R.Weight), IsLast ? "REMOTE:0" : "LOCAL",
              std::to_string(R.Output), R.Message, std::to_string(R.Sent),
              "NONE"},
             OS);
  });
}

llvm::Error llmservingsim::emit(const EmitRequest &Request, const Options &O,
                                OutputSet &Out) {
  const Spec &S = Request.Program.Spec;
  if (llvm::Error E =
          Out.add(O.Files.path(Request, "llmservingsim.txt"),
                  [&](llvm::raw_ostream &OS) { writeTrace(Request, OS); }))
    return E;
  if (!S.Cluster)
    return llvm::Error::success();
  return Out.add(
      O.Files.path(Request, "cluster.json"),
      [&](llvm::raw_ostream &OS) { writeCluster(S, O.Model, O.Hardware, OS); });
}
