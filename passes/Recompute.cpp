// SPDX-License-Identifier: Apache-2.0
//
// recompute: repeats forward ops, the results of which are not saved, in the
// backward pass of their layer. `full` repeats the whole layer with its
// collectives before anything else, `selective` some of the modules that the
// text of the layer defines (ir::Module), each before the backward op that
// needs it first, and `op` the whole layer but for ops whose results are
// expensive to make. Embedding and head are never recomputed.

#include "passes/Recompute.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Spellings.h"
#include "lang/ShippedLayers.h"
#include "lang/diagnostics/Passes.h"
#include "passes/BlockBuilder.h"
#include "passes/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class Recomputer {
public:
  Recomputer(Block &B, const Recomputation &Of, bool HasLossTwice)
      : B(B), Build(B, "recompute"), Of(Of), HasLossTwice(HasLossTwice),
        Old(std::move(B.Ops)) {
    B.Ops = {};
    for (const auto &[Index, O] : llvm::enumerate(Old))
      for (ValueId V : O.Results)
        Makers[V.Index] = Index;
  }

  /// Returns whether a value that backward ops read need not be saved any more.
  bool run();

private:
  using Part = Recomputation::Part;
  OpId forwardOf(OpId Id) const;
  const Part *partOf(const Op &Forward) const;
  bool isRead(ValueId V) const;
  bool isOfLoss(OpId Id) const;
  void beginParts(OpId Forward);
  void repeat(OpId Forward, const Part &Of);
  ValueId readBy(const Part *Reader, ValueId V) const;

  Block &B;
  BlockBuilder Build;
  const Recomputation &Of;
  const bool HasLossTwice; ///< whether auxiliary losses are computed twice
  Table<OpId, Op> Old;
  llvm::DenseMap<unsigned, unsigned> Makers; ///< old op by value
  llvm::DenseMap<unsigned, OpId> NewId;      ///< by old op
  llvm::DenseMap<unsigned, OpId> RepeatedId; ///< by old op
  struct Copy {
    ValueId Is;
    const Part *Of;
  };
  llvm::DenseMap<unsigned, Copy> Again; ///< by forward value
  llvm::SmallPtrSet<const Part *, 4> Begun;
};

} // namespace

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

/// Returns the forward op that \p Id derives from, or serves a derivative of.
OpId Recomputer::forwardOf(OpId Id) const {
  while (Old[Id].Phase != Phase::Forward && Old[Id].For.isValid())
    Id = Old[Id].For;
  return Id;
}

/// The part of \p Forward, or of the op that it serves; a batch is sent once.
const Recomputation::Part *Recomputer::partOf(const Op &Forward) const {
  if (Forward.Phase != Phase::Forward || Forward.Kind == OpKind::Broadcast)
    return nullptr;
  return Forward.For.isValid() ? Of.findPart(Forward.Kind, Old[Forward.For])
                               : Of.findPart(Forward);
}

/// Whether an op reads \p V, or its sum.
bool Recomputer::isRead(ValueId V) const {
  return llvm::any_of(Old, [&](const Op &Reader) {
    return llvm::is_contained(Reader.Operands, V) &&
           (!isCollective(Reader.Kind) ||
            llvm::any_of(Reader.Results, [&](ValueId R) { return isRead(R); }));
  });
}

/// Whether \p Id, which is recomputed, is of an auxiliary loss: no op reads its
/// result. Megatron-LM computes these losses only with gradients, so in the
/// second pass alone (since core 0.12, moe/router.py, `is_grad_enabled`).
bool Recomputer::isOfLoss(OpId Id) const {
  const Op &O = Old[Id];
  if (HasLossTwice || !partOf(O))
    return false;
  if (isCollective(O.Kind))
    return O.Operands.size() == 1 && O.For.isValid() &&
           llvm::is_contained(Old[O.For].Results, O.Operands.front()) &&
           isOfLoss(O.For);
  return O.Kind == OpKind::Reduce &&
         llvm::none_of(O.Results, [&](ValueId V) { return isRead(V); });
}

/// What an op of \p Reader, if that is a part, finds where \p V was.
ValueId Recomputer::readBy(const Part *Reader, ValueId V) const {
  auto It = Again.find(V.Index);
  if (It == Again.end())
    return V;
  const Copy &C = It->second;
  return C.Of->savesResult() && C.Of != Reader ? V : C.Is;
}

void Recomputer::repeat(OpId Forward, const Part &Of) {
  Op O = Old[Forward];
  O.Phase = Phase::Recompute;
  O.Origin.Pass = "recompute";
  for (ValueId &V : O.Operands)
    V = readBy(&Of, V);
  const bool IsFirst = isOfLoss(Forward);
  for (ValueId &V : O.Results) {
    if (IsFirst)
      continue;
    const ValueId Is = Build.derived(V, "again");
    Again[V.Index] = {Is, &Of};
    V = Is;
  }
  RepeatedId[Forward.Index] = B.Ops.add(std::move(O));
}

/// Forward values that later phases read.
static llvm::DenseSet<unsigned> savedBy(const Table<OpId, Op> &Ops) {
  llvm::DenseSet<unsigned> Made, Saved;
  for (const Op &O : Ops) {
    if (O.Phase == Phase::Forward)
      for (ValueId V : O.Results)
        Made.insert(V.Index);
    else
      for (ValueId V : O.Operands)
        if (Made.contains(V.Index))
          Saved.insert(V.Index);
  }
  return Saved;
}

/// Repeats the parts that begin before a backward op of \p Forward.
void Recomputer::beginParts(OpId Forward) {
  for (const Part &P : Of.parts()) {
    const bool Begins =
        P.savesResult() ? partOf(Old[Forward]) == &P
                        : Forward.Index <= Makers.find(P.Until.Index)->second;
    if (!Begins || !Begun.insert(&P).second)
      continue;
    for (size_t I = 0; I < Old.size(); ++I)
      if (const OpId Id = Old.idAt(I); partOf(Old[Id]) == &P)
        repeat(Id, P);
  }
}

bool Recomputer::run() {
  for (size_t I = 0; I < Old.size(); ++I) {
    Op O = Old[Old.idAt(I)];
    if (O.Phase == Phase::Backward) {
      const OpId Forward = forwardOf(Old.idAt(I));
      beginParts(Forward);
      for (ValueId &V : O.Operands)
        V = readBy(partOf(Old[Forward]), V);
    }
    if (!isOfLoss(Old.idAt(I)))
      NewId[I] = B.Ops.add(std::move(O));
  }
  // References to later ops: a collective stands before the op it serves.
  for (auto [OldIndex, Id] : NewId)
    if (OpId &For = B.Ops[Id].For; For.isValid())
      For = NewId[For.Index];
  for (auto [OldIndex, Id] : RepeatedId) {
    OpId &For = B.Ops[Id].For;
    const bool IsServed = For.isValid() && isCollective(B.Ops[Id].Kind);
    const auto Repeated =
        IsServed ? RepeatedId.find(For.Index) : RepeatedId.end();
    if (Repeated != RepeatedId.end())
      For = Repeated->second;
    else if (!IsServed && !NewId.contains(OldIndex)) // what it adds to
      For = NewId[Makers.at(Old[Old.idAt(OldIndex)].Operands.front().Index)];
    else
      For = NewId[IsServed ? For.Index : OldIndex];
  }
  const llvm::DenseSet<unsigned> Now = savedBy(B.Ops);
  return llvm::any_of(savedBy(Old),
                      [&](unsigned V) { return !Now.contains(V); });
}

bool foretrace::recompute(Program &P, DiagnosticEngine &Diags) {
  const bool HasLossTwice = *P.Spec.Parallel.Megatron < MegatronVersion::V0_12;
  bool Saves = false;
  const Located<RecomputeKind> *Kind = nullptr;
  for (Block &B : P.Blocks)
    if (const Recomputation Of(P, B); Of.isWanted()) {
      const BlockSpec *Spec = P.Spec.Model.findBlock(B.Name);
      Kind = Spec ? &P.Spec.recomputeOf(*Spec) : &P.Spec.Train.Recompute;
      Saves |= Recomputer(B, Of, HasLossTwice).run();
    }
  if (Kind && !Saves)
    Diags.report(Kind->Range, diag::RecomputeSavesNothing, getSpelling(**Kind),
                 **Kind == RecomputeKind::Selective
                     ? llvm::join(modulesOf(P.Spec.Train), " ")
                     : "layers");
  return true;
}
