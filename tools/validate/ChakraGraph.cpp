// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/ChakraGraph.h"
#include "lang/diagnostics/Validate.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <queue>

using namespace llvm;

namespace foretrace::validate {

void ChakraGraph::add(const ChakraOp &Op, const ChakraNode &Node) {
  Ops.push_back(Op);
  for (const auto *Deps : {&Node.CtrlDeps, &Node.DataDeps})
    for (uint64_t On : *Deps)
      Edges.push_back({Node.Id, On});
}

void ChakraGraph::sortOps(StringRef Path, Findings &Out) {
  const auto ById = [](const ChakraOp &A, const ChakraOp &B) {
    return A.Id < B.Id;
  };
  if (!is_sorted(Ops, ById))
    llvm::stable_sort(Ops, ById);
  const auto IsSame = [&](const ChakraOp &A, const ChakraOp &B) {
    if (A.Id == B.Id)
      Out.report({Path.str(), 0, A.Id}, diag::ChakraDuplicateId);
    return A.Id == B.Id;
  };
  Ops.erase(std::unique(Ops.begin(), Ops.end(), IsSame), Ops.end());
}

void ChakraGraph::resolve(StringRef Path, Findings &Out) {
  const auto IndexOf = [&](uint64_t Id) {
    return partition_point(Ops,
                           [&](const ChakraOp &Op) { return Op.Id < Id; }) -
           Ops.begin();
  };
  std::vector<Edge> Known;
  Known.reserve(Edges.size());
  for (const Edge &E : Edges) {
    const size_t On = IndexOf(E.On);
    const Place At{Path.str(), 0, E.Node};
    if (E.On == E.Node)
      Out.report(At, diag::ChakraSelfDependency);
    else if (On == Ops.size() || Ops[On].Id != E.On)
      Out.report(At, diag::ChakraUnknownDependency, E.On);
    else
      Known.push_back({static_cast<uint64_t>(IndexOf(E.Node)), On});
  }
  // Sorts by dependence; one that is stated twice is one.
  const auto Key = [](const Edge &E) { return std::tie(E.On, E.Node); };
  sort(Known, [&](const Edge &A, const Edge &B) { return Key(A) < Key(B); });
  Known.erase(std::unique(Known.begin(), Known.end(),
                          [&](const Edge &A, const Edge &B) {
                            return Key(A) == Key(B);
                          }),
              Known.end());
  Edges = {};
  Waits.assign(Ops.size(), 0);
  Begin.assign(Ops.size() + 1, 0);
  Dependents.reserve(Known.size());
  for (const Edge &E : Known) {
    ++Waits[E.Node];
    ++Begin[E.On + 1];
    Dependents.push_back(static_cast<uint32_t>(E.Node));
  }
  for (size_t I = 1; I < Begin.size(); ++I)
    Begin[I] += Begin[I - 1];
}

void ChakraGraph::findOrder() {
  std::vector<uint32_t> Left = Waits;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> Ready;
  for (uint32_t I = 0; I != Ops.size(); ++I)
    if (Left[I] == 0)
      Ready.push(I);
  while (!Ready.empty()) {
    const uint32_t Op = Ready.top();
    Ready.pop();
    Order.push_back(Op);
    for (uint32_t Next : dependents(Op))
      if (--Left[Next] == 0)
        Ready.push(Next);
  }
}

/// Every node without an order waits for another such node, so that following
/// these from any of them ends in a cycle.
void ChakraGraph::reportCircle(StringRef Path, Findings &Out) const {
  BitVector IsOrdered(Ops.size());
  for (uint32_t Op : Order)
    IsOrdered.set(Op);
  std::vector<uint32_t> WaitsFor(Ops.size());
  for (uint32_t On = 0; On != Ops.size(); ++On)
    if (!IsOrdered.test(On))
      for (uint32_t Op : dependents(On))
        WaitsFor[Op] = On;
  BitVector IsSeen(Ops.size());
  uint32_t At = IsOrdered.find_first_unset();
  for (; !IsSeen.test(At); At = WaitsFor[At])
    IsSeen.set(At);
  constexpr size_t MostShown = 8;
  std::vector<uint64_t> Circle;
  uint32_t Next = At;
  do {
    Circle.push_back(Ops[Next].Id);
    Next = WaitsFor[Next];
  } while (Next != At);
  std::string Text;
  for (uint64_t Id : ArrayRef(Circle).take_front(MostShown))
    Text += formatv("{0} waits for ", Id);
  Text += Circle.size() > MostShown ? "..." : std::to_string(Circle.front());
  Out.report({Path.str(), 0, Circle.front()}, diag::ChakraCycle, Circle.size(),
             Text);
}

void ChakraGraph::shrink() {
  Order = {};
  Ops.shrink_to_fit();
  Dependents.shrink_to_fit();
}

void ChakraGraph::finish(StringRef Path, Findings &Out) {
  sortOps(Path, Out);
  resolve(Path, Out);
  findOrder();
  if (!isAcyclic())
    reportCircle(Path, Out);
}

} // namespace foretrace::validate
