// SPDX-License-Identifier: Apache-2.0
//
// The graph of one rank's trace, with what of its nodes matters for their order
// and for other ranks: about 60 bytes a node.
#pragma once

#include "tools/validate/ChakraReader.h"
#include "tools/validate/Findings.h"
#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace foretrace::validate {

/// The kept part of a node, in 32 bytes.
struct ChakraOp {
  ChakraOp() : Type(NodeType::Invalid), Comm(CommType::AllReduce) {}

  uint64_t Id = 0;
  uint64_t Amount = 0;  ///< bytes of a communication; ns of anything else
  uint32_t Partner = 0; ///< rank of a message; index of a collective's group
  uint32_t Tag = 0;     ///< of a message
  /// A type of the schema; Invalid for all others.
  NodeType Type : 8;
  CommType Comm : 8;
  bool IsCpu = false;
  /// Whether all that other checks need is known; if not, it was reported.
  bool IsSound = false;

  bool isCollective() const { return Type == NodeType::Coll && IsSound; }
  bool isSend() const { return Type == NodeType::Send && IsSound; }
  bool isRecv() const { return Type == NodeType::Recv && IsSound; }
};

/// Nodes by id, and who waits for whom.
class ChakraGraph {
public:
  /// Adds a node and the ids it depends on.
  void add(const ChakraOp &Op, const ChakraNode &Node);
  /// Sorts the nodes and resolves ids. Reports those that are twice, unknown,
  /// or in a circle. To be called once, before what is below.
  void finish(llvm::StringRef Path, Findings &Out);

  llvm::ArrayRef<ChakraOp> ops() const { return Ops; }
  /// Nodes, by index, that wait for \p Op.
  llvm::ArrayRef<uint32_t> dependents(uint32_t Op) const {
    return llvm::ArrayRef(Dependents)
        .slice(Begin[Op], Begin[Op + 1] - Begin[Op]);
  }
  /// Returns how many others \p Op waits for.
  uint32_t waitsFor(uint32_t Op) const { return Waits[Op]; }
  /// Frees what a replay does not need: order() is empty from now on.
  void shrink();
  /// The order in which nodes are issued if none takes any time: the lowest id
  /// among those that are ready. Nodes in a circle, and after it, are not in
  /// it.
  llvm::ArrayRef<uint32_t> order() const { return Order; }
  bool isAcyclic() const { return Order.size() == Ops.size(); }

private:
  /// \p Node waits for \p On; an id until finish(), an index after it.
  struct Edge {
    uint64_t Node, On;
  };

  void sortOps(llvm::StringRef Path, Findings &Out);
  void resolve(llvm::StringRef Path, Findings &Out);
  void findOrder();
  void reportCircle(llvm::StringRef Path, Findings &Out) const;

  std::vector<ChakraOp> Ops;
  std::vector<Edge> Edges;
  std::vector<uint32_t> Begin, Dependents, Waits, Order;
};

} // namespace foretrace::validate
