// SPDX-License-Identifier: Apache-2.0
#include "analysis/AdapterMemory.h"
#include "analysis/Analyses.h"
#include "analysis/LayerCounts.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns the weight of a linear layer, or null.
static const Value *weightOf(const Block &B, const Op &O) {
  if (O.Kind != OpKind::MatMul || O.Operands.size() < 2)
    return nullptr;
  const Value &V = B.Values[O.Operands[1]];
  return V.Kind == ValueKind::Param && V.Type.Dims.size() >= 2 ? &V : nullptr;
}

/// Returns the last part of the names of ops that a target means.
static llvm::StringRef opOf(llvm::StringRef Target) {
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> Words[] =
      {{"qkv", "linear_qkv"},
       {"o", "linear_proj"},
       {"gate_up", "linear_fc1"},
       {"down", "linear_fc2"}};
  const auto *It = llvm::find_if(
      Words, [&](const auto &Row) { return Row.first == Target; });
  return It == std::end(Words) ? Target : llvm::StringRef(It->second);
}

static bool isTarget(const Op &O, llvm::StringRef Target) {
  const llvm::StringRef Name = opOf(Target);
  return O.Name == Name || llvm::StringRef(O.Name).rsplit('.').second == Name;
}

/// Returns how many layers of the model a product is: queries, keys and values,
/// or as many as the input of the projection after it has parts.
static Expr slicesOf(ExprScope P, const Block &B, const Op &O,
                     llvm::StringRef Target) {
  if (Target == "qkv")
    return numberOf(P, 3);
  llvm::StringRef Prefix = O.Name;
  if (Target == "gate_up" && Prefix.consume_back("linear_fc1"))
    for (const Op &Next : B.Ops)
      if (const Value *V = weightOf(B, Next);
          V && Next.Name == (Prefix + "linear_fc2").str()) {
        const size_t Dims = V->Type.Dims.size();
        return P.at(weightOf(B, O)->Type.Dims.back().Size) /
               P.at(V->Type.Dims[Dims - 2].Size);
      }
  return numberOf(P, 1);
}

static std::vector<llvm::StringRef> targetsOf(const Program &P) {
  llvm::SmallVector<llvm::StringRef> Words;
  llvm::StringRef(*P.Spec.Lora->Targets).split(Words, ' ', -1, false);
  return {Words.begin(), Words.end()};
}

/// Returns the elements of an adapter of rank 1 on a rank, of one layer.
static Expr adapterOfRankOne(ExprScope P, const Block &B) {
  llvm::SmallVector<ExprId> Sum;
  for (const Op &O : B.Ops) {
    const Value *V = weightOf(B, O);
    const auto Targets = targetsOf(P);
    const auto It = llvm::find_if(
        Targets, [&](llvm::StringRef T) { return isTarget(O, T); });
    if (!V || It == Targets.end())
      continue;
    const size_t Dims = V->Type.Dims.size();
    auto OnRank = [&](size_t Dim) {
      return extentOnRank(P, V->Type, V->Layout, Dim);
    };
    Expr Of = OnRank(Dims - 2) * slicesOf(P, B, O, *It) + OnRank(Dims - 1);
    for (size_t Dim = 0; Dim + 2 < Dims; ++Dim) // of experts
      Of *= OnRank(Dim);
    Sum.push_back(Of);
  }
  return sumOf(P, Sum);
}

Expr foretrace::adaptersOf(ExprScope P, const Stage &S) {
  const LoraSpec &L = *P->Spec.Lora;
  const int64_t Width =
      bytesPerElement(elementTypeOf(*P->Spec.Serve->Precision));
  llvm::SmallVector<ExprId> Sum;
  for (const auto &[Block, Count] : layersByBlock(S))
    Sum.push_back(adapterOfRankOne(P, P->Blocks[BlockId(Block)]) *
                  ofStage(P, S, KeyId::StageLayers, Block, Count));
  return sumOf(P, Sum) * exprOf(P, L.Rank) * exprOf(P, L.Slots) * Width;
}

std::vector<llvm::StringRef> foretrace::targetsWithoutLayer(const Program &P) {
  std::vector<llvm::StringRef> Targets = targetsOf(P);
  llvm::erase_if(Targets, [&](llvm::StringRef T) {
    return llvm::any_of(P.Blocks, [&](const Block &B) {
      return llvm::any_of(
          B.Ops, [&](const Op &O) { return weightOf(B, O) && isTarget(O, T); });
    });
  });
  return Targets;
}
