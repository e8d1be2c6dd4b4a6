// SPDX-License-Identifier: Apache-2.0
//
// The `elaborate` pass, which three files implement: ElaborateAttention.cpp the
// kinds of attention, ElaborateExperts.cpp experts and their dispatcher,
// Elaborate.cpp the rest. Private to the passes.
#ifndef FORETRACE_PASSES_ELABORATOR_H
#define FORETRACE_PASSES_ELABORATOR_H

#include "ir/model/Measure.h"
#include "passes/BlockBuilder.h"
#include "llvm/ADT/Twine.h"

namespace foretrace {

/// Makes the model level of a program from its spec.
class Elaborator {
public:
  explicit Elaborator(ir::Program &P)
      : P(P), S(P.Spec), Element(elementTypeOf(*S.Train.Precision)) {}

  void run();

private:
  void embedding();
  void layer(const ir::BlockSpec &Spec);
  void head();
  void crossEntropy(BlockBuilder &B, ir::ValueId Logits, ir::ValueId Labels,
                    ir::ValueId LossMask);

  ir::TensorType type(llvm::ArrayRef<ir::Dim> Dims) const {
    return {Element, llvm::SmallVector<ir::Dim, 4>(Dims)};
  }
  ir::TensorType tokens(llvm::ArrayRef<ir::Dim> More) const;
  ir::Expr of(const Located<int64_t> &Field) const { return exprOf(P, Field); }
  ir::Dim hidden() const { return {ir::DimKind::Hidden, of(S.Model.Hidden)}; }
  ir::TensorType residual() const { return tokens({hidden()}); }

  ir::ValueId batch(BlockBuilder &B, llvm::StringRef Name,
                    ir::ElementType Element);
  void attentionMask(BlockBuilder &B);
  ir::ValueId norm(BlockBuilder &B, llvm::StringRef Name, ir::ValueId X);
  ir::ValueId dropout(BlockBuilder &B, llvm::StringRef Name, ir::ValueId X);
  ir::ValueId linear(BlockBuilder &B, llvm::StringRef Name, ir::ValueId X,
                     ir::Dim In, ir::Dim Out, bool Bias);
  ir::ValueId attention(BlockBuilder &B, const ir::AttentionSpec &A,
                        ir::ValueId X);
  llvm::SmallVector<ir::ValueId, 4>
  headByHead(BlockBuilder &B, const ir::AttentionSpec &A,
             llvm::ArrayRef<ir::ValueId> Operands);
  ir::ValueId coreAttention(BlockBuilder &B, const ir::AttentionSpec &A,
                            llvm::ArrayRef<ir::ValueId> Operands,
                            ir::Expr Channels);
  ir::ValueId selfAttention(BlockBuilder &B, const ir::AttentionSpec &A,
                            ir::ValueId X);
  ir::ValueId latentAttention(BlockBuilder &B, const ir::AttentionSpec &A,
                              ir::ValueId X);
  ir::ValueId mlp(BlockBuilder &B, llvm::StringRef Prefix, const ir::FfnSpec &F,
                  ir::Dim Inner, ir::ValueId X);
  ir::ValueId latentQuery(BlockBuilder &B, const ir::AttentionSpec &A,
                          ir::ValueId X);
  void countTokensPerExpert(BlockBuilder &B, const ir::MoeSpec &M,
                            ir::ValueId Probs);
  ir::ValueId expertActivation(BlockBuilder &B, const ir::FfnSpec &F,
                               ir::ValueId Up, ir::ValueId Weights,
                               ir::TensorType T);
  bool expertsWeigh() const;
  bool sendsProbabilities(const ir::MoeSpec &M) const;
  /// Tokens of a micro-batch.
  ir::Expr tokenCount() const {
    return of(S.Train.Sequence) * of(S.Train.MicroBatch);
  }
  ir::ValueId asSlots(BlockBuilder &B, ir::ValueId V);
  llvm::SmallVector<ir::ValueId, 2>
  dispatch(BlockBuilder &B, const ir::MoeSpec &M, ir::ValueId X,
           llvm::ArrayRef<ir::ValueId> Routing, ir::TensorType Tokens,
           ir::TensorType Weights);
  ir::ValueId combine(BlockBuilder &B, const ir::BlockSpec &Spec,
                      llvm::ArrayRef<ir::ValueId> Out);
  ir::ValueId expertLinear(BlockBuilder &B, llvm::StringRef Name, ir::ValueId X,
                           ir::Dim Experts, ir::Dim In, ir::Dim Out, bool Bias);
  ir::ValueId experts(BlockBuilder &B, const ir::BlockSpec &Spec,
                      ir::ValueId X);
  ir::ValueId routedExperts(BlockBuilder &B, const ir::BlockSpec &Spec,
                            ir::ValueId X);

  ir::Program &P;
  const ir::Spec &S;
  ir::ElementType Element;
};

} // namespace foretrace

#endif
