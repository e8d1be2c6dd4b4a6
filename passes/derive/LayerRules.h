// SPDX-License-Identifier: Apache-2.0
//
// What a layer of a block asks of a job. Private to the `derive` pass:
// Deriver.h has the other parts.
#pragma once

#include "lang/ShippedLayers.h"
#include "passes/LayerBody.h"
#include "passes/derive/Deriver.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringSet.h"

namespace foretrace {

/// Checks the requirements in the text of a layer for all such jobs.
class Deriver::LayerRules final : public LayerBody {
public:
  LayerRules(Deriver &D, ir::LayerUse &Use, BlockBuilder &Scratch)
      : LayerBody(D.Program, Scratch, &Use, D.Diags), D(D), Use(Use),
        IsShipped(Use.Is && Use.Is->hasSections() &&
                  findShippedLayer(Use.Kind) == Use.Is) {}

  bool run();

private:
  ir::ValueId addReceived(llvm::StringRef Name);
  void notePassed(llvm::ArrayRef<ir::ValueId> Inputs,
                  llvm::ArrayRef<ir::ValueId> Outputs);
  void shareWeight(const layers::Tensor &T, Frame &F);
  void setDefaults();
  void setDefault(ir::LayerKey &Key, Frame &F);
  void checkDefault(const ir::LayerKey &Key);
  void setOnly(ir::LayerKey &Key, Frame &F);
  void addSource(const layers::Statement &S, Frame &F) override;
  void addOp(const layers::Statement &S, Frame &F) override;
  void require(const layers::Statement &S, Frame &F) override;
  bool isStopped() const override { return D.Failed; }
  int64_t decide(ir::Expr Comparison) override { return D.decide(Comparison); }
  bool demand(ir::Expr Condition) override;

  bool meets(const Node &E, Frame &F, diag::Id Id,
             const Located<int64_t> &Blamed);
  void noteOtherWords(DiagnosticBuilder &B, const layers::Statement &S,
                      Frame &F);
  void refuse(const layers::Statement &S, diag::Id Id, SourceRange At,
              Frame &F);
  void checkExtent(const Node &Dim, llvm::StringRef Tensor, Frame &F);
  void checkColumns(const layers::Tensor &T, Frame &F);
  void checkExtents(const layers::Tensor &T, Frame &F);
  ir::Expr bytesOf(llvm::ArrayRef<const ir::Value *> Tensors);
  void checkSizes();
  ir::LayerKey *ownKey(const Node &E, Frame &F);
  SourceRange placeOf(const Node &E, Frame &F);
  const Located<int64_t> *blamed(const Node &E, Frame &F);
  const Located<int64_t> *blamed(const layers::Statement &S, Frame &F);
  std::string message(const layers::Statement &S, Frame &F);

  Deriver &D;
  ir::LayerUse &Use;
  const bool IsShipped; ///< whether its text says all that it requires
  llvm::StringSet<> Sources; ///< parameters and inputs so far
  /// Places of requirements not met: others there mostly follow from these.
  llvm::SmallSet<SourceLocation, 2> Refused;
};

} // namespace foretrace
