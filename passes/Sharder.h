// SPDX-License-Identifier: Apache-2.0
//
// The `shard` pass, which two files implement: Shard.cpp says in which layouts
// ops take and make values (rules 1 and 2), Reshard.cpp converts one layout
// into another (rule 3). Private to the passes.
#pragma once

#include "passes/BlockBuilder.h"
#include "passes/Recomputation.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <vector>

namespace foretrace {

/// Gives the values of one block their layouts and makes the collectives that
/// follow.
class Sharder {
public:
  Sharder(const ir::Program &P, ir::Block &B)
      : P(P), B(B), Again(P, B), Build(B, "shard"), Old(std::move(B.Ops)) {
    B.Ops = {};
  }

  void run();

private:
  void placeInputs();
  void distributeBatch();
  void shardOp(ir::OpId Id);
  void dispatch(const ir::Op &Permute);
  ir::Layout exchangedLayout(const ir::Op &O) const;
  ir::Layout operandLayout(const ir::Op &O, ir::ValueId V) const;
  ir::Layout recountedLayout(const ir::Op &O, ir::ValueId V) const;
  ir::Layout sumOfTaken(const ir::Op &O, ir::ValueId V) const;
  ir::Layout resultLayout(const ir::Op &O, ir::ValueId V) const;
  std::optional<ir::DimKind> workingDim(const ir::Op &O, ir::Axis A) const;
  ir::Layout gradientLayout(const ir::Value &Gradient) const;
  ir::Layout summed(ir::ValueId V, const ir::Layout &To) const;
  ir::Layout reducedLayout(const ir::Op &O, ir::ValueId V) const;
  ir::ValueId reduced(const ir::Op &O, ir::ValueId V);
  /// Returns whether \p O makes a term over \p A from a term of the sum \p V.
  bool isTerm(const ir::Op &O, ir::ValueId V, ir::Axis A) const {
    return isLinear(O.Kind) && layoutOf(V).isPartial(A);
  }
  bool isSummand(ir::ValueId V) const;
  bool isSentLater(ir::ValueId V) const;
  bool exchangesHeads(const ir::Op &O) const;
  bool goesRound(llvm::ArrayRef<ir::Axis> Axes, ir::DimKind K) const;

  llvm::SmallVector<ir::ValueId, 2> dispatchedWith(ir::ValueId V) const;
  bool gathers(const ir::Op &Exchange) const;
  bool isReturned(ir::ValueId V) const;
  ir::OpId makerOf(ir::ValueId V) const;
  ir::Op withCurrentOperands(ir::Op O);
  // Rule 3, in passes/Reshard.cpp.
  void gatherAhead(ir::OpId InputGrad);
  std::optional<ir::ValueId> known(ir::ValueId From,
                                   const ir::Layout &To) const;
  ir::ValueId convert(ir::ValueId V, const ir::Layout &To);
  bool isGatheredForEach(ir::ValueId V) const;
  ir::ValueId broadcast(ir::ValueId V);
  ir::ValueId reduce(ir::ValueId V, const ir::Layout &To);
  ir::ValueId exchange(ir::ValueId From, const ir::Layout &To);
  ir::ValueId slice(ir::ValueId V, const ir::Layout &To);
  ir::ValueId gather(ir::ValueId V, const ir::Layout &To);
  bool isKept(ir::ValueId From, const ir::Layout &To) const;
  ir::ValueId unsliced(ir::ValueId V);
  ir::ValueId step(ir::ValueId V, ir::OpKind Kind,
                   llvm::ArrayRef<ir::Axis> Axes, const ir::Layout &To);
  void enterBackward();
  void gatherUnread();

  bool isSequenceParallel() const { return *P.Spec.Parallel.SequenceParallel; }

  /// Returns the value that replaces \p V after its reduction.
  ir::ValueId current(ir::ValueId V) const {
    auto It = Resolved.find(V.Index);
    return It == Resolved.end() ? V : It->second;
  }
  const ir::Layout &layoutOf(ir::ValueId V) const { return B.Values[V].Layout; }
  bool isParamGradient(ir::ValueId V) const {
    const ir::Value &Val = B.Values[V];
    return Val.Kind == ir::ValueKind::Gradient &&
           B.Values[Val.GradientOf].Kind == ir::ValueKind::Param;
  }

  struct Conversion {
    ir::ValueId From;
    ir::Layout To;
    ir::ValueId Result;
    ir::OpId For; ///< the old op that needed it first
    bool IsKept;  ///< from forward to backward
  };

  const ir::Program &P;
  ir::Block &B;
  const Recomputation Again;
  BlockBuilder Build;
  ir::Table<ir::OpId, ir::Op> Old;
  llvm::SmallVector<ir::OpId> NewId; ///< by old index
  ir::OpId Serving; ///< the old op for which conversions are made
  llvm::DenseMap<unsigned, ir::ValueId> Resolved;
  std::vector<Conversion> Conversions;
  ir::Phase CurrentPhase = ir::Phase::Forward;
};

} // namespace foretrace
