// SPDX-License-Identifier: Apache-2.0
//
// Forward ops of a layer from its text. Private to the passes.
#pragma once

#include "passes/BlockBuilder.h"
#include "passes/LayerWalker.h"

namespace foretrace {

/// Appends to a block what a layer says.
class LayerBody : public LayerWalker {
public:
  LayerBody(ir::Program &P, BlockBuilder &B, const ir::LayerUse *Of,
            DiagnosticEngine &Diags)
      : LayerWalker(P, Of, Diags), B(B) {}

  /// Parameters and inputs of a block that several uses of layers share: those
  /// of the same name.
  struct Sources {
    std::string Prefix;      ///< of the names of parameters
    llvm::StringRef Section; ///< other sections have other parameters
    llvm::StringMap<ir::ValueId> Known;
  };
  void share(Sources &With) { Shared = &With; }
  /// Sets the block that shares weights with others.
  void setBlock(const ir::BlockSpec &B) { In = &B; }

  /// The type of the hidden state.
  static ir::TensorType hiddenType(ir::Program &P);
  /// Appends \p L; returns its outputs, none after errors.
  llvm::SmallVector<ir::ValueId, 1> add(const layers::Layer &L,
                                        llvm::ArrayRef<ir::ValueId> Inputs) {
    return walk(L, Inputs);
  }

protected:
  using Dims = llvm::SmallVector<ir::Dim, 4>;

  /// The layout if there are more ranks than units of a dimension.
  enum class FewUnits : unsigned char {
    Refused,
    Gathered, ///< `or gather`: gather all and take their own, as Megatron-LM
    Whole,    ///< `or whole`: have all of the weights and take their own
  };
  /// A dimension, `heads(count, size)`: no rank has a part of a unit.
  struct Units {
    ir::DimKind Kind;
    ir::Expr Count, Size;
    FewUnits Few;
  };

  /// Whether ranks share units of a type that was read.
  bool AreUnitsShared = false;

  void addSource(const layers::Statement &S, Frame &F) override;
  void addOp(const layers::Statement &S, Frame &F) override;
  void setOrigin(const layers::Statement &S, Frame &F) override;
  void enterModule(const layers::Statement &S, Frame &F) override;
  void leaveModule() override { B.leaveModule(); }
  void endUse(Frame &F) override;
  /// Adds a value of another block as an input of this one.
  ir::ValueId addInput(llvm::StringRef Name, ir::TensorType Type);
  /// Returns whether a condition on shapes holds for all jobs of this shape.
  virtual bool demand(ir::Expr Condition) { return Condition.value() > 0; }
  /// Returns whether the types of two tensors are the same.
  bool isAlike(llvm::ArrayRef<ir::Dim> A, llvm::ArrayRef<ir::Dim> B);
  /// 1 if \p Whole is a multiple of \p Part, else 0.
  ir::Expr divides(ir::Expr Part, ir::Expr Whole) {
    return equal(
        ir::Expr(P.Sizes, P.Sizes.combine(ir::ExprOp::Mod, Whole, Part)),
        ir::numberOf(P, 0));
  }
  /// Returns the units that \p E, a resolved expression, has; reports what is
  /// no such dimension.
  std::optional<Units> units(const Node &E, Frame &F);
  /// Returns the number of ranks along an axis that divides stated sizes, or
  /// null: sizes of batches and of messages to experts are those of a replica.
  const Located<int64_t> *sizeAlong(ir::Axis A) const;
  /// Returns the product of these numbers for all axes that split activations
  /// of the kind; nothing if one of them is null.
  std::optional<ir::Expr> ranksAlong(ir::DimKind K) const {
    return ranksAlong(ir::infoOf(P.Spec, K).ActivationAxes);
  }
  std::optional<ir::Expr> ranksAlong(llvm::ArrayRef<ir::Axis> Axes) const;
  const ir::Block &block() const { return B.block(); }
  llvm::ArrayRef<ir::Dim> dimsOf(ir::ValueId V) const {
    return B.block().Values[V].Type.Dims;
  }

private:
  Dims dims(const Node &E, Frame &F);
  Dims pack(const Node &E, Frame &F);
  std::optional<ir::DimKind> kindOf(const Node &E);
  bool areShared(const Units &U);
  ir::Dim dimOf(const Units &U);
  std::optional<ir::Expr> unitsOf(const Node &E, Frame &F) override;
  void noteCopies(const ir::TokenChoice &Of) override { B.block().Copies = Of; }
  ir::TensorType typeOf(const layers::Tensor &T, Frame &F, bool IsOfSource);
  ir::TensorType inferred(ir::OpKind K,
                          llvm::ArrayRef<ir::ValueId> Operands) const;
  bool checkOp(const layers::Statement &S, ir::OpKind K,
               llvm::ArrayRef<ir::ValueId> Operands);
  bool hasWholeSequence(ir::ValueId V);
  llvm::StringRef faultOfSequenceOp(ir::OpKind K,
                                    llvm::ArrayRef<ir::ValueId> Operands,
                                    llvm::ArrayRef<ir::ValueId> Results);
  llvm::StringRef faultOfPool(llvm::ArrayRef<ir::Dim> First,
                              llvm::ArrayRef<ir::Dim> Out);
  llvm::StringRef faultOfInsert(llvm::ArrayRef<ir::ValueId> Operands,
                                llvm::ArrayRef<ir::Dim> Out);
  llvm::StringRef faultOfOpaque(llvm::ArrayRef<ir::ValueId> Operands,
                                llvm::ArrayRef<ir::ValueId> Results);
  bool isStatedRight(const layers::Statement &S, ir::OpKind K,
                     std::optional<ir::Expr> Stated);
  llvm::StringRef faultOfWeight(ir::ValueId V, llvm::ArrayRef<ir::Dim> Normed);
  llvm::StringRef faultOf(ir::OpKind K, llvm::ArrayRef<ir::ValueId> Operands,
                          llvm::ArrayRef<ir::ValueId> Results);
  bool isBias(llvm::ArrayRef<ir::Dim> Dims, llvm::ArrayRef<ir::Dim> Of);
  bool isBroadcast(llvm::ArrayRef<ir::Dim> Dims, llvm::ArrayRef<ir::Dim> Of);
  bool fits(ir::OpKind K, llvm::ArrayRef<ir::Dim> First,
            llvm::ArrayRef<ir::Dim> Second);
  ir::Expr widthOf(llvm::ArrayRef<ir::ValueId> Tensors) const;
  std::optional<ir::Expr> stated(const Node &E, Frame &F);
  ir::ElementType elementOf(const layers::Tensor &T, Frame &F);
  std::optional<ir::Expr> extentOf(ir::DimKind K) const;

  BlockBuilder &B;
  Sources *Shared = nullptr;
  const ir::BlockSpec *In = nullptr;
  bool IsOfParam = false; ///< whether a type that is read is a parameter's
};

} // namespace foretrace
