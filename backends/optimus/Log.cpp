// SPDX-License-Identifier: Apache-2.0
//
// The lines of a run's log that follow from the job; times are `?`.
#include "backends/optimus/Writers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace foretrace;
using namespace foretrace::optimus;
using llvm::formatv;

namespace {

class LogWriter {
public:
  LogWriter(const PartitionJob &Of, llvm::raw_ostream &OS)
      : Of(Of), Par(Of.Program.Spec.Parallel), OS(OS) {}

  void run();

private:
  void configuration();
  void groups();
  void ranges(int64_t Rank);
  void graph();
  void graph(llvm::StringRef Node);
  void node(llvm::StringRef Node, llvm::StringRef Op, llvm::StringRef Name,
            llvm::StringRef Target, llvm::ArrayRef<std::string> Arguments);
  std::string firstRange() const;
  void rank(int64_t Rank);
  void layers(int64_t Rank);
  void rule() { OS << std::string(60, '-') << '\n'; }

  const PlannedStage &stage(int64_t S) const {
    return Of.Plan.Stages[static_cast<size_t>(S)];
  }
  std::string submodule(int64_t S) const {
    return "submod_" + std::to_string(S);
  }

  const PartitionJob &Of;
  const ir::ParallelSpec &Par;
  llvm::raw_ostream &OS;
};

} // namespace

void LogWriter::configuration() {
  const ir::TrainSpec &Train = Of.Program.Spec.Train;
  OS << "> Total parameters in model: " << withCommas(Of.Graph.Parameters)
     << "\n> World size: " << *Par.World
     << "\n> IR: IR_Anal.SEQUENTIAL\n> GAS: " << Of.microBatches()
     << "\n> GBS: " << *Train.GlobalBatch << "\n> MBS: " << *Train.MicroBatch
     << "\n> TP: " << *Par.Tp << "\n> DP: " << *Par.Dp << "\n> PP: " << *Par.Pp
     << '\n';
}

/// Ranks are numbered tp fastest, then dp, then pp.
void LogWriter::groups() {
  const int64_t Tp = *Par.Tp, Dp = *Par.Dp;
  auto Mesh = [](llvm::StringRef Axis, llvm::ArrayRef<int64_t> Ranks) {
    return formatv("DeviceMesh('cuda', {0}, mesh_dim_names=('{1}',))",
                   list(Ranks), Axis)
        .str();
  };
  for (int64_t Rank = 0; Rank < *Par.World; ++Rank) {
    const int64_t T = Rank % Tp, D = Rank / Tp % Dp, S = Of.stageOf(Rank);
    std::vector<int64_t> Tps, Dps;
    for (int64_t I = 0; I < Tp; ++I)
      Tps.push_back((S * Dp + D) * Tp + I);
    for (int64_t I = 0; I < Dp; ++I)
      Dps.push_back((S * Dp + I) * Tp + T);
    OS << formatv("> [rank:{0}] pp group:{1}, tp group:{2}, dp group:{3}\n",
                  Rank, Mesh("pp", Of.pipelineOf(Rank)), Mesh("tp", Tps),
                  Mesh("dp", Dps));
  }
  OS << "> World Size: " << *Par.World
     << "\n> Pipeline Parallel Size: " << *Par.Pp << '\n';
  if (Dp > 1)
    OS << "> Data Parallel Size: " << Dp << '\n';
  if (Tp > 1)
    OS << "> Tensor Parallel Size: " << Tp << '\n';
  OS << ">> ir_analyze: IR_Anal.SEQUENTIAL\n";
  rule();
  OS << "stage2rank = {";
  for (int64_t S = 0; S < Of.stages(); ++S)
    OS << (S ? ", " : "") << S << ": " << list(Of.ranks(S));
  OS << "}\n";
  rule();
}

/// The nodes that end the stages, as Python prints a list of pairs.
std::string LogWriter::firstRange() const {
  std::string Text;
  for (int64_t S = 0; S < Of.stages(); ++S)
    Text += (S ? ", (" : "(") + std::to_string(S) + ", '" +
            Of.Graph.Values[stage(S).Last].Node + "')";
  return "[" + Text + "]";
}

void LogWriter::ranges(int64_t Rank) {
  OS << Of.counts() << '\n';
  if (Rank == 0)
    OS << "  rank:0,  first metadata_range: " << firstRange() << '\n';
  OS << "  rank:" << Rank << ",  second metadata_range: [";
  for (int64_t S = 0; S < Of.stages(); ++S)
    OS << (S ? ", " : "") << '(' << S << ", '" << submodule(S) << "')";
  OS << "]\n";
}

void LogWriter::node(llvm::StringRef Node, llvm::StringRef Op,
                     llvm::StringRef Name, llvm::StringRef Target,
                     llvm::ArrayRef<std::string> Arguments) {
  std::vector<std::string> Inputs;
  for (const std::string &A : Arguments)
    if (!llvm::all_of(A, llvm::isDigit))
      Inputs.push_back(A);
  const llvm::StringRef Short = Node.take_back(Node.ends_with("node") ? 4 : 1);
  OS << formatv("{0}.op:{1}, {2}.name:{3}, {2}.target:{4}, {2}.args:({5}{6}), "
                "{2}.all_input_nodes:[{7}]\n",
                Node, Op, Short, Name, Target, llvm::join(Arguments, ", "),
                Arguments.size() == 1 ? "," : "", llvm::join(Inputs, ", "));
}

/// The split graph; its nodes are spelled \p Node.
void LogWriter::graph(llvm::StringRef Node) {
  const std::string &Input = Of.Graph.Values.front().Node;
  node(Node, "placeholder", Input, Input, {});
  for (int64_t S = 0; S < Of.stages(); ++S) {
    node(Node, "call_module", submodule(S), submodule(S), stage(S).Arguments);
    if (stage(S).Outputs.size() > 1)
      for (size_t I = 0; I < stage(S).Outputs.size(); ++I)
        node(Node, "call_function", stage(S).Outputs[I].Node,
             "<built-in function getitem>", {submodule(S), std::to_string(I)});
  }
  node(Node, "output", "output", "output", {submodule(Of.stages() - 1)});
  rule();
}

/// Rank 0 prints the graph twice.
void LogWriter::graph() {
  OS << ">> --- FX graph ---\n";
  graph("n");
  OS << " # rank = 0, metadata_range:" << firstRange() << '\n';
  graph("-- node");
  for (int64_t S = 0; S < Of.stages(); ++S)
    if (stage(S).Outputs.size() > 1)
      for (size_t I = 0; I < stage(S).Outputs.size(); ++I)
        OS << " --- key:" << stage(S).Outputs[I].Node << ", values:('"
           << submodule(S) << "', " << I << ")\n";
}

void LogWriter::rank(int64_t Rank) {
  OS << ">> model class name: " << getClass(Of.Family)
     << "\n>> split method: " << getName(Of.Split) << '\n'
     << "SEQUENTIAL mode >> [rank:" << Rank
     << ", local_world_size:" << *Par.World << "]\n";
  ranges(Rank);
  if (Rank == 0)
    graph();
  const std::string Own = submodule(Of.stageOf(Rank));
  OS << " ### Rank:" << Rank << ", name:" << Own << ", move " << Own
     << " to cuda:" << Rank << '\n';
  for (int64_t S = Of.stages() - 1; S > 0; --S)
    OS << " ***** stage:" << S << " >>  from_:" << Of.firstNodeFor(S)
       << ", to_:" << submodule(S) << '\n';
  OS << " ### Rank:" << Rank << ", clean_module_memory ...\n[rank:" << Rank
     << ", local_rank:" << Rank << "] SEQUENTIAL MODE PROCESSING ...\n"
     << " *** rank:" << Rank << " cross-referenced nodes ***\n"
     << "   special_nodes: {";
  llvm::interleaveComma(Of.Plan.Special, OS, [&](const SpecialNode &N) {
    OS << '\'' << N.Node << "': (" << N.First << ", " << N.Last << ')';
  });
  OS << "}\n";
  rule();
}

void LogWriter::layers(int64_t Rank) {
  const int64_t S = Of.stageOf(Rank);
  OS << "[rank:" << Rank << " stage:" << S
     << "] transformer-block(module) forward time (no send/recv) - step 1\n";
  for (const LayerPart &P : stage(S).Parts)
    OS << "  layer[" << Of.keyOf(P) << "]: total=?ms, ops="
       << static_cast<int64_t>(P.Leaves.size()) * Of.microBatches()
       << ", avg/op=?ms\n";
}

void LogWriter::run() {
  configuration();
  groups();
  for (int64_t Rank = 0; Rank < *Par.World; ++Rank)
    OS << ">>> Using GPU ... cuda:" << Rank << '\n';
  for (int64_t Rank = 0; Rank < *Par.World; ++Rank)
    rank(Rank);
  for (int64_t Rank = 0; Rank < *Par.World; ++Rank)
    layers(Rank);
}

void foretrace::optimus::writeLog(const PartitionJob &J,
                                  llvm::raw_ostream &OS) {
  LogWriter(J, OS).run();
}
