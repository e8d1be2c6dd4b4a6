// SPDX-License-Identifier: Apache-2.0
//
// Forward ops of a layer from its text (lang/layers). Private to the passes.
#ifndef FORETRACE_PASSES_LAYERBODY_H
#define FORETRACE_PASSES_LAYERBODY_H

#include "ir/model/Measure.h"
#include "lang/Layers.h"
#include "passes/BlockBuilder.h"

namespace foretrace {

/// Appends to a block what layers say. Keys of the outermost layer are those of
/// the block.
class LayerBody {
public:
  /// Without \p Of, the outermost layer has no keys of its own.
  LayerBody(ir::Program &P, BlockBuilder &B, const ir::BlockSpec *Of = nullptr)
      : P(P), B(B), Of(Of) {}

  /// Appends the shipped layer that is called \p Name; returns its outputs.
  llvm::SmallVector<ir::ValueId, 1> add(llvm::StringRef Name,
                                        llvm::ArrayRef<ir::ValueId> Inputs);

private:
  struct Frame;
  struct Lazy;
  using Scalar = std::variant<int64_t, bool, std::string>;
  using Dims = llvm::SmallVector<ir::Dim, 4>;

  void run(llvm::ArrayRef<layers::Statement> Body, Frame &F);
  void run(const layers::Statement &S, Frame &F);
  void addSource(const layers::Statement &S, Frame &F);
  void addOp(const layers::Statement &S, Frame &F);
  void call(const layers::Statement &S, Frame &F);

  Scalar scalar(const layers::Expr &E, Frame &F) const;
  Scalar scalarOf(llvm::StringRef Name, Frame &F) const;
  bool holds(const layers::Expr &E, Frame &F) const;
  bool compares(const layers::Expr &E, Frame &F) const;
  ir::Expr number(const layers::Expr &E, Frame &F) const;
  ir::Expr numberOf(llvm::StringRef Name, Frame &F) const;
  Dims dims(const layers::Expr &E, Frame &F) const;
  ir::ValueId tensor(llvm::StringRef Name, Frame &F) const;
  ir::TensorType typeOf(const layers::Tensor &T, Frame &F) const;
  ir::TensorType inferred(ir::OpKind K,
                          llvm::ArrayRef<ir::ValueId> Operands) const;
  ir::ElementType elementOf(llvm::StringRef Name, Frame &F) const;
  ir::Expr extentOf(ir::DimKind K) const;
  template <typename VisitT>
  bool visitKey(llvm::StringRef Name, Frame &F, VisitT Visit) const;

  ir::Program &P;
  BlockBuilder &B;
  const ir::BlockSpec *Of;
};

} // namespace foretrace

#endif
