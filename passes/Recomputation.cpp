// SPDX-License-Identifier: Apache-2.0
#include "passes/Recomputation.h"
#include "ir/model/OpKinds.h"
#include "lang/ShippedLayers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

using ModuleNames = llvm::SmallVector<llvm::StringRef, 8>;

static void addModules(llvm::ArrayRef<layers::Statement> Body,
                       ModuleNames &Out) {
  for (const layers::Statement &S : Body) {
    if (S.Is == layers::Statement::Kind::Module &&
        !llvm::is_contained(Out, S.Name))
      Out.push_back(S.Name);
    addModules(S.Then, Out);
    addModules(S.Else, Out);
  }
}

ModuleNames foretrace::recomputeModules(const Spec &S) {
  static const ModuleNames OfLibrary = [] {
    ModuleNames Out;
    for (const layers::Layer &L : shippedLayers())
      addModules(L.Body, Out);
    return Out;
  }();
  ModuleNames Out = OfLibrary;
  for (const layers::Layer *L : S.Layers)
    addModules(L->Body, Out);
  return Out;
}

llvm::SmallVector<llvm::StringRef, 4> foretrace::modulesOf(const TrainSpec &T) {
  llvm::SmallVector<llvm::StringRef, 4> Names;
  if (T.RecomputeModules.isPresent())
    llvm::SplitString(*T.RecomputeModules, Names, " ,");
  else
    Names.push_back("core_attn");
  return Names;
}

/// Returns the op that \p O is, or the one that it serves as a collective.
static const Op &served(const Block &B, const Op &O) {
  return isCollective(O.Kind) && O.For.isValid() ? B.Ops[O.For] : O;
}

/// Returns the linear layer that alone reads \p V, also as another type, or
/// null.
static const Op *findOnlyLinear(const Block &B, ValueId V) {
  const Op *Found = nullptr;
  for (const Op &O : B.Ops) {
    if (O.Phase != Phase::Forward || !llvm::is_contained(O.Operands, V))
      continue;
    const Op *Linear = O.Kind == OpKind::Cast
                           ? findOnlyLinear(B, O.Results.front())
                           : &served(B, O);
    if (!Linear)
      return nullptr;
    const Op &Reader = *Linear;
    if (Reader.Kind != OpKind::MatMul || (Found && Found != &Reader))
      return nullptr;
    Found = &Reader;
  }
  return Found;
}

/// Returns the modules of norms that Transformer Engine fuses, by the names of
/// norms: Megatron-LM has IdentityOp in the place of such a norm, and
/// TELayerNormColumnParallelLinear in that of the linear layer
/// (models/gpt/gpt_layer_specs.py,
/// get_gpt_layer_with_transformer_engine_submodules).
static llvm::StringMap<ModuleId> modulesOfNorms(const Program &P,
                                                const Block &B) {
  llvm::StringMap<ModuleId> Modules;
  if (*P.Spec.Train.TransformerImpl == TransformerImplKind::Local)
    return Modules;
  for (const Op &O : B.Ops)
    if (O.Kind == OpKind::Norm && O.Phase == Phase::Forward)
      if (const Op *Linear = findOnlyLinear(B, O.Results.front()))
        Modules[O.Name] = Linear->Module;
  return Modules;
}

Recomputation::Recomputation(const Program &P, const Block &B) : B(B) {
  const auto IsAt = [&](const LayerGroup &G) {
    return &P.Blocks[G.Runs.front().Block] == &B;
  };
  const TrainSpec &T = P.Spec.Train;
  const BlockSpec *Spec = P.Spec.Model.findBlock(B.Name);
  const RecomputeKind Kind = Spec ? *P.Spec.recomputeOf(*Spec) : *T.Recompute;
  if (Kind == RecomputeKind::None ||
      (!P.Layers.empty() && (IsAt(P.Layers.front()) || IsAt(P.Layers.back()))))
    return;
  IsWanted = true;
  if (Kind == RecomputeKind::Full) {
    Parts.emplace_back();
    return;
  }
  if (Kind == RecomputeKind::Op) {
    addUnsaved(Spec ? P.Spec.computeTypeOf(*Spec) : *T.ComputePrecision);
    return;
  }
  const llvm::SmallVector<llvm::StringRef, 4> Names = modulesOf(T);
  for (const auto &[Index, M] : llvm::enumerate(B.Modules))
    if (llvm::is_contained(Names, M.Name))
      Parts.push_back({B.Modules.idAt(Index), M.Until});
  ModuleOf = modulesOfNorms(P, B);
}

/// torchtitan, distributed/activation_checkpoint.py, SelectiveAC: it saves
/// attention and every other `mm` in the order in which they run, the first one
/// included. Linear layers with a bias (`addmm`), also the router's, and those
/// in fp8 (`_scaled_mm`) are saved, and not counted; grouped products of
/// experts and routers without a bias are neither saved nor counted.
void Recomputation::addUnsaved(TypeKind Compute) {
  IsByOp = true;
  bool IsNextSaved = true;
  const Op *Last = nullptr;
  const auto IsBiased = [&](const Op &Linear) {
    return llvm::any_of(B.Ops, [&](const Op &O) {
      return O.Kind == OpKind::BiasAdd && O.Name == Linear.Name;
    });
  };
  for (const Op &O : B.Ops) {
    if (O.Phase != Phase::Forward)
      continue;
    Last = &O;
    if (hasTrait(O.Kind, Attends))
      Saved.insert(O.Name);
    if (O.Kind != OpKind::MatMul)
      continue;
    const TensorType &Out = B.Values[O.Results.front()].Type;
    if (Out.indexOf(DimKind::Expert) >= 0)
      continue;
    if (IsBiased(O) || (O.IsLowPrecision && isScaled(elementTypeOf(Compute)))) {
      Saved.insert(O.Name);
    } else if (Out.indexOf(DimKind::Router) < 0) {
      if (IsNextSaved)
        Saved.insert(O.Name);
      IsNextSaved = !IsNextSaved;
    }
  }
  if (Last)
    Parts.push_back({{}, Last->Results.front()});
}

const Recomputation::Part *Recomputation::findPart(OpKind Collective,
                                                   const Op &Served) const {
  if (IsByOp &&
      (Collective == OpKind::ReduceScatter || Collective == OpKind::AllToAll))
    return nullptr;
  if (IsByOp && Collective == OpKind::AllReduce)
    return &Parts.front();
  return findPart(Served);
}

const Recomputation::Part *Recomputation::findPart(const Op &O) const {
  if (IsByOp) {
    const bool MayBeSaved = O.Kind == OpKind::MatMul ||
                            O.Kind == OpKind::BiasAdd ||
                            hasTrait(O.Kind, Attends);
    return MayBeSaved && Saved.contains(O.Name) ? nullptr : &Parts.front();
  }
  // Megatron-LM looks tokens up outside of the checkpoint of a layer
  // (transformer/multi_token_prediction.py, _get_embeddings).
  if (Parts.size() == 1 && !Parts.front().Module.isValid())
    return O.Kind == OpKind::Embed ? nullptr : &Parts.front();
  const auto Fused = ModuleOf.find(O.Name);
  ModuleId Of = Fused == ModuleOf.end() ? O.Module : Fused->second;
  const Part *Outermost = nullptr;
  for (; Of.isValid(); Of = B.Modules[Of].Parent)
    for (const Part &P : Parts)
      if (P.Module == Of)
        Outermost = &P;
  return Outermost;
}
