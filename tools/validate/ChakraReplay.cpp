// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/ChakraReplay.h"
#include "lang/diagnostics/Validate.h"
#include "tools/validate/Replay.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::validate {

namespace {

class ChakraRules final : public ReplayRules {
public:
  ChakraRules(ArrayRef<std::unique_ptr<const ChakraGraph>> Graphs,
              const ChakraGroups &Groups)
      : Graphs(Graphs), Groups(Groups) {}

  bool isTimed() const override { return true; }
  bool doSizesMatch() const override { return true; }
  size_t ranks() const override { return Graphs.size(); }
  std::vector<uint32_t> waits(uint32_t Rank) const override;
  ReplayOp op(RankOp Of) const override;
  OperationSlot slot(RankOp Of) const override;
  void forEachAfter(RankOp On, bool IsStart,
                    function_ref<void(uint32_t)> Visit) const override;
  ArrayRef<uint32_t> members(uint32_t Group) const override {
    return Groups.all()[Group].Members;
  }
  std::string describe(RankOp Of) const override;

  const ChakraOp &node(RankOp Of) const {
    return Graphs[Of.Rank]->ops()[Of.Op];
  }

private:
  ArrayRef<std::unique_ptr<const ChakraGraph>> Graphs;
  const ChakraGroups &Groups;
};

std::vector<uint32_t> ChakraRules::waits(uint32_t Rank) const {
  std::vector<uint32_t> Waits(Graphs[Rank]->ops().size());
  for (uint32_t Op = 0; Op != Waits.size(); ++Op)
    Waits[Op] = Graphs[Rank]->waitsFor(Op);
  return Waits;
}

ReplayOp ChakraRules::op(RankOp Of) const {
  const ChakraOp &N = node(Of);
  const auto Type = static_cast<uint8_t>(N.Comm);
  switch (N.Type) {
  case NodeType::Send:
    return {ReplayKind::Send, Type, N.Partner, N.Tag, N.Amount};
  case NodeType::Recv:
    return {ReplayKind::Recv, Type, N.Partner, N.Tag, N.Amount};
  case NodeType::Coll:
    if (N.Comm == CommType::Broadcast)
      return {ReplayKind::Local, Type, 0, 0, communicationTime(N.Amount)};
    return {ReplayKind::Collective, Type, N.Partner, 0, N.Amount};
  default:
    return {ReplayKind::Local, Type, 0, 0, N.Amount};
  }
}

OperationSlot ChakraRules::slot(RankOp Of) const {
  const ChakraOp &N = node(Of);
  if (N.IsCpu)
    return OperationSlot::Cpu;
  if (N.Type == NodeType::Comp)
    return OperationSlot::Compute;
  return N.Type == NodeType::Recv ? OperationSlot::None
                                  : OperationSlot::Communication;
}

void ChakraRules::forEachAfter(RankOp On, bool IsStart,
                               function_ref<void(uint32_t)> Visit) const {
  if (!IsStart)
    for (uint32_t Next : Graphs[On.Rank]->dependents(On.Op))
      Visit(Next);
}

std::string ChakraRules::describe(RankOp Of) const {
  const ChakraOp &N = node(Of);
  return N.Type == NodeType::Recv
             ? formatv("node {0}, a receive with tag {1}", N.Id, N.Tag).str()
             : formatv("node {0}, {1} of {2}", N.Id, nameOf(N.Comm),
                       Groups.describe(N.Partner))
                   .str();
}

} // namespace

void replayChakra(ArrayRef<std::unique_ptr<const ChakraGraph>> Ranks,
                  const ChakraSet &Set, const ChakraGroups &Groups,
                  Findings &Out) {
  const ChakraRules Rules(Ranks, Groups);
  Replay Run(Rules);
  const uint64_t Undone = Run.run();
  if (Undone == 0)
    return;
  RankOp First;
  const std::string Why = Run.explain(First);
  Out.report({Set.pathOf(First.Rank), 0, Rules.node(First).Id},
             diag::ChakraDeadlock, Undone, Run.count(), Why);
}

} // namespace foretrace::validate
