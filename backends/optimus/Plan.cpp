// SPDX-License-Identifier: Apache-2.0
#include "backends/optimus/Plan.h"
#include "ir/model/Partition.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace foretrace;
using namespace foretrace::optimus;

namespace {

class Planner {
public:
  Planner(const Graph &G, int64_t Stages) : G(G) {
    P.Stages.resize(static_cast<size_t>(Stages));
  }

  /// \p Ends are the numbers of the leaf calls, from 1, that end the stages.
  PartitionPlan run(llvm::ArrayRef<int64_t> Ends);

private:
  void assign(llvm::ArrayRef<int64_t> Ends);
  void addLeaf(PlannedStage &S, const Step &Of);
  void findBoundaries();
  void nameNodes();
  void findSpecialNodes();

  const Graph &G;
  PartitionPlan P;
  std::vector<size_t> StageOf; ///< of steps
  std::vector<size_t> MakerOf; ///< of values
  /// By stage: values of earlier stages, in order of first use.
  std::vector<std::vector<unsigned>> Taken;
};

} // namespace

llvm::StringRef foretrace::optimus::getName(SplitPolicy S) {
  return S == SplitPolicy::Simple ? "simple" : "llama-tp-split";
}

void Planner::addLeaf(PlannedStage &S, const Step &Of) {
  ++S.Modules;
  S.Parameters += Of.Parameters;
  if (S.Parts.empty() || Of.Layer < 0 || S.Parts.back().Layer != Of.Layer)
    S.Parts.push_back({Of.Layer, {}});
  S.Parts.back().Leaves.push_back(Of.Result);
}

/// Assigns steps between two leaf calls to the stage of the second call.
void Planner::assign(llvm::ArrayRef<int64_t> Ends) {
  size_t At = 0;
  int64_t Calls = 0;
  MakerOf.resize(G.Values.size());
  for (const Step &S : G.Steps) {
    StageOf.push_back(At);
    MakerOf[S.Result] = At;
    if (!S.IsModule)
      continue;
    addLeaf(P.Stages[At], S);
    ++Calls;
    // The last stage has all remaining nodes, whatever its stated end.
    if (Calls == Ends[At]) {
      P.Stages[At].Last = S.Result;
      if (At + 1 < P.Stages.size())
        ++At;
    }
  }
}

void Planner::findBoundaries() {
  Taken.resize(P.Stages.size());
  llvm::DenseSet<unsigned> Leaves; // values that leave their stage
  std::vector<llvm::DenseSet<unsigned>> Has(P.Stages.size());
  for (size_t I = 0; I < G.Steps.size(); ++I)
    for (unsigned V : G.Steps[I].Arguments) {
      const size_t User = StageOf[I];
      if (V == 0 || MakerOf[V] == User)
        continue;
      std::vector<Output> &Outputs = P.Stages[MakerOf[V]].Outputs;
      if (Leaves.insert(V).second)
        Outputs.push_back({V, 0, ""});
      llvm::find_if(Outputs, [&](const Output &O) {
        return O.Value == V;
      })->LastUser = static_cast<int64_t>(User);
      if (Has[User].insert(V).second)
        Taken[User].push_back(V);
    }
  P.Stages.back().Outputs.push_back(
      {G.Steps.back().Result, static_cast<int64_t>(P.Stages.size()) - 1, ""});
}

void Planner::nameNodes() {
  int64_t Items = 0;
  std::vector<std::string> NodeOf(G.Values.size());
  for (size_t I = 0; I < P.Stages.size(); ++I) {
    PlannedStage &S = P.Stages[I];
    const auto Stage = static_cast<int64_t>(I);
    S.Name = "submod_" + std::to_string(I);
    P.Nodes.push_back({S.Name, Stage, std::nullopt});
    for (size_t Item = 0; Item < S.Outputs.size(); ++Item) {
      Output &O = S.Outputs[Item];
      O.Node = S.Name;
      if (S.hasItems()) {
        O.Node = Items == 0 ? "getitem" : "getitem_" + std::to_string(Items);
        P.Nodes.push_back({O.Node, Stage, Item});
        ++Items;
      }
      NodeOf[O.Value] = O.Node;
    }
  }
  P.Stages.front().Arguments = {G.Values.front().Node};
  for (size_t I = 1; I < P.Stages.size(); ++I)
    for (unsigned V : Taken[I])
      P.Stages[I].Arguments.push_back(NodeOf[V]);
}

/// Goes back from the last stage: finds values of earlier stages that a stage,
/// or nodes back to the stage before it, read.
void Planner::findSpecialNodes() {
  llvm::StringSet<> Known;
  auto Add = [&](const std::string &Node, int64_t Owner, int64_t First,
                 int64_t Last) {
    if (Known.insert(Node).second)
      P.Special.push_back({Node, Owner, First, Last});
  };
  for (size_t I = P.Stages.size(); I-- > 1;) {
    const auto Last = static_cast<int64_t>(I);
    const PlannedStage &Before = P.Stages[I - 1];
    for (unsigned V : Taken[I]) {
      const auto Maker = static_cast<int64_t>(MakerOf[V]);
      if (Before.hasItems() && Maker == Last - 1)
        continue; // its getitem is on the way
      const PlannedStage &From = P.Stages[MakerOf[V]];
      const Output &O = *llvm::find_if(
          From.Outputs, [&](const Output &Out) { return Out.Value == V; });
      // A getitem follows its submodule, so one more is before it.
      Add(O.Node, Maker, Maker + From.hasItems(), Last);
    }
    if (Before.hasItems())
      Add(Before.Name, Last - 1, Last - 1, Last);
  }
}

PartitionPlan Planner::run(llvm::ArrayRef<int64_t> Ends) {
  assign(Ends);
  findBoundaries();
  nameNodes();
  findSpecialNodes();
  return std::move(P);
}

std::vector<unsigned> PartitionPlan::crossing(int64_t S) const {
  std::vector<unsigned> Values;
  for (int64_t Maker = S; Maker >= 0; --Maker)
    for (const Output &O : Stages[static_cast<size_t>(Maker)].Outputs)
      if (O.LastUser > S)
        Values.push_back(O.Value);
  return Values;
}

std::vector<int64_t> PartitionPlan::sentAfter(int64_t S) const {
  std::vector<int64_t> Owners;
  for (const SpecialNode &N : Special)
    if (N.First <= S && S < N.Last && !llvm::is_contained(Owners, N.Owner))
      Owners.push_back(N.Owner);
  return Owners;
}

PartitionPlan foretrace::optimus::makePlan(const Graph &G, SplitPolicy How,
                                           int64_t Stages, int64_t Layers) {
  std::vector<int64_t> Ends;
  if (How == SplitPolicy::Simple)
    for (int64_t I = 1; I <= Stages; ++I)
      Ends.push_back(I * (G.Modules / Stages));
  int64_t Calls = 1; // the embedding
  if (How == SplitPolicy::LlamaTpSplit)
    for (int64_t Count : ir::blockTpLayers(Layers, Stages))
      Ends.push_back(Calls += Count * ((G.Modules - 2) / Layers));
  return Planner(G, Stages).run(Ends);
}
