// SPDX-License-Identifier: Apache-2.0
//
// The lines of a run's log that follow from the job; times are `?`.
#include "backends/optimus/Job.h"
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
  void graph();
  void graph(llvm::StringRef Node);
  void node(llvm::StringRef Node, llvm::StringRef Op, llvm::StringRef Name,
            llvm::StringRef Target, llvm::ArrayRef<std::string> Arguments);
  void rank(int64_t Rank);
  void layers(int64_t Rank);
  void rule() { OS << std::string(60, '-') << '\n'; }

  const PartitionJob &Of;
  const ir::ParallelSpec &Par;
  llvm::raw_ostream &OS;
};

} // namespace

void LogWriter::configuration() {
  const ir::TrainSpec &Train = Of.Program.Spec.Train;
  OS << formatv("> Total parameters in model: {0}\n> World size: {1}\n"
                "> IR: IR_Anal.SEQUENTIAL\n> GAS: {2}\n> GBS: {3}\n"
                "> MBS: {4}\n> TP: {5}\n> DP: {6}\n> PP: {7}\n",
                withCommas(Of.Graph.Parameters), *Par.World, Of.microBatches(),
                *Train.GlobalBatch, *Train.MicroBatch, *Par.Tp, *Par.Dp,
                *Par.Pp);
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
  OS << "stage2rank = {" << Of.ranksOfStages() << "}\n";
  rule();
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
  const std::string &Input = Of.value(0).Node;
  node(Node, "placeholder", Input, Input, {});
  for (const SplitNode &N : Of.Plan.Nodes)
    if (const PlannedStage &S = Of.stage(N.Stage); N.Item)
      node(Node, "call_function", N.Name, "<built-in function getitem>",
           {S.Name, std::to_string(*N.Item)});
    else
      node(Node, "call_module", N.Name, N.Name, S.Arguments);
  node(Node, "output", "output", "output", {Of.Plan.Stages.back().Name});
  rule();
}

/// Rank 0 prints the graph twice.
void LogWriter::graph() {
  OS << ">> --- FX graph ---\n";
  graph("n");
  OS << " # rank = 0, metadata_range:[" << Of.lastNodes() << "]\n";
  graph("-- node");
  for (const SplitNode &N : Of.Plan.Nodes)
    if (N.Item)
      OS << formatv(" --- key:{0}, values:('{1}', {2})\n", N.Name,
                    Of.stage(N.Stage).Name, *N.Item);
}

void LogWriter::rank(int64_t Rank) {
  OS << formatv(">> model class name: {0}\n>> split method: {1}\n"
                "SEQUENTIAL mode >> [rank:{2}, local_world_size:{3}]\n{4}\n",
                getClass(Of.Family), getName(Of.Split), Rank, *Par.World,
                Of.counts());
  if (Rank == 0)
    OS << "  rank:0,  first metadata_range: [" << Of.lastNodes() << "]\n";
  OS << formatv("  rank:{0},  second metadata_range: [{1}]\n", Rank,
                Of.submodules());
  if (Rank == 0)
    graph();
  OS << formatv(" ### Rank:{0}, name:{1}, move {1} to cuda:{0}\n", Rank,
                Of.stage(Of.stageOf(Rank)).Name);
  for (int64_t S = Of.stages() - 1; S > 0; --S)
    OS << formatv(" ***** stage:{0} >>  from_:{1}, to_:{2}\n", S,
                  Of.firstNodeFor(S), Of.stage(S).Name);
  OS << formatv(" ### Rank:{0}, clean_module_memory ...\n"
                "[rank:{0}, local_rank:{0}] SEQUENTIAL MODE PROCESSING ...\n"
                " *** rank:{0} cross-referenced nodes ***\n"
                "   special_nodes: {{{1}}\n",
                Rank, Of.specialNodes());
  rule();
}

void LogWriter::layers(int64_t Rank) {
  const int64_t S = Of.stageOf(Rank);
  OS << formatv("[rank:{0} stage:{1}] transformer-block(module) forward time "
                "(no send/recv) - step 1\n",
                Rank, S);
  for (const LayerPart &P : Of.stage(S).Parts)
    OS << formatv("  layer[{0}]: total=?ms, ops={1}, avg/op=?ms\n", Of.keyOf(P),
                  Of.calls(P));
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
