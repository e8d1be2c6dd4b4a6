// SPDX-License-Identifier: Apache-2.0
//
// recompute: repeats forward ops, the results of which are not saved, in the
// backward pass of their layer. `full` repeats the whole layer with its
// collectives before anything else, `selective` some of the modules that the
// text of the layer defines (ir::Module), each before the backward op that
// needs it first, and `op` the whole layer but for ops whose results are
// expensive to make. Embedding and head are never recomputed.

#include "ir/model/Measure.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Passes.h"
#include "passes/BlockBuilder.h"
#include "passes/Passes.h"
#include "passes/Recomputation.h"
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
  Recomputer(const Program &P, Block &B, const Recomputation &Of)
      : B(B), Build(B, "recompute"), Of(Of),
        HasLossTwice(*P.Spec.Parallel.Megatron < MegatronVersion::V0_12),
        KeepsPart(P.Spec.Train.DistributeSavedActivations.is(true)),
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
  OpId keepPart(const Part &Of);
  void beginParts(OpId Forward);
  void repeat(OpId Forward, const Part &Of);
  ValueId readBy(const Part *Reader, ValueId V) const;

  Block &B;
  BlockBuilder Build;
  const Recomputation &Of;
  const bool HasLossTwice; ///< whether auxiliary losses are computed twice
  const bool KeepsPart;    ///< whether ranks of tp share the input of a layer
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

/// Returns whether an op reads \p V, or its sum.
bool Recomputer::isRead(ValueId V) const {
  return llvm::any_of(Old, [&](const Op &Reader) {
    return llvm::is_contained(Reader.Operands, V) &&
           (!isCollective(Reader.Kind) ||
            llvm::any_of(Reader.Results, [&](ValueId R) { return isRead(R); }));
  });
}

/// Returns whether \p Id, which is recomputed, is an auxiliary loss: no op
/// reads its result. Megatron-LM computes these losses only with gradients, so
/// only in the second pass (since core 0.12, moe/router.py, `is_grad_enabled`).
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

/// Returns the value that an op of \p Reader (or of no part) reads for \p V.
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

/// Each rank of tp keeps a part of the input of the layer, which is whole
/// again in the second pass (Megatron-LM, tensor_parallel/random.py,
/// CheckpointFunction). Returns the gather of the parts.
OpId Recomputer::keepPart(const Part &Of) {
  const ValueId Input = B.Signature.Inputs.front();
  const ValueId Kept = Build.derived(Input, "part");
  B.Values[Kept].Layout.setFlat(Axis::Tp);
  Build.op(OpKind::Slice, "input", {Input}, {Kept});
  const ValueId Whole = Build.derived(Input, "again");
  const OpId Gather = Build.op(OpKind::AllGather, "input", {Kept}, {Whole});
  B.Ops[Gather].Phase = Phase::Recompute;
  B.Ops[Gather].Group.Axes = {Axis::Tp};
  Again[Input.Index] = {Whole, &Of};
  return Gather;
}

/// Repeats the parts that begin before a backward op of \p Forward.
void Recomputer::beginParts(OpId Forward) {
  for (const Part &P : Of.parts()) {
    const bool Begins =
        P.savesResult() ? partOf(Old[Forward]) == &P
                        : Forward.Index <= Makers.find(P.Until.Index)->second;
    if (!Begins || !Begun.insert(&P).second)
      continue;
    const bool IsLayer = P.savesResult() && !P.Module.isValid();
    const OpId Gather = KeepsPart && IsLayer ? keepPart(P) : OpId();
    for (size_t I = 0; I < Old.size(); ++I)
      if (const OpId Id = Old.idAt(I); partOf(Old[Id]) == &P)
        repeat(Id, P);
    if (Gather.isValid())
      B.Ops[Gather].For = OpId{Gather.Index + 1};
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
  // References to later ops: a collective precedes the op it serves.
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
    else if (!IsServed && !NewId.contains(OldIndex)) // the op that it adds to
      For = NewId[Makers.at(Old[Old.idAt(OldIndex)].Operands.front().Index)];
    else
      For = NewId[IsServed ? For.Index : OldIndex];
  }
  const llvm::DenseSet<unsigned> Now = savedBy(B.Ops);
  return llvm::any_of(savedBy(Old),
                      [&](unsigned V) { return !Now.contains(V); });
}

bool foretrace::recompute(Program &P, DiagnosticEngine &Diags) {
  bool Saves = false;
  const Located<RecomputeKind> *Kind = nullptr;
  for (Block &B : P.Blocks)
    if (const Recomputation Of(P, B); Of.isWanted()) {
      const BlockSpec *Spec = P.Spec.Model.findBlock(B.Name);
      Kind = Spec ? &P.Spec.recomputeOf(*Spec) : &P.Spec.Train.Recompute;
      Saves |= Recomputer(P, B, Of).run();
      if (P.Spec.Train.DistributeSavedActivations.is(true))
        measure(P, B);
    }
  if (Kind && !Saves)
    Diags.report(Kind->Range, diag::RecomputeSavesNothing, getSpelling(**Kind),
                 **Kind == RecomputeKind::Selective
                     ? llvm::join(modulesOf(P.Spec.Train), " ")
                     : "layers");
  return true;
}
