// SPDX-License-Identifier: Apache-2.0
//
// recompute: at the start of a layer's backward pass, computes forward ops
// again whose results were not kept. `full` repeats the whole layer with its
// collectives, `selective` the core attention (Korthikanti et al.,
// arXiv 2205.05198, section 5), for its own backward alone: its result is kept
// as the input of the projection. Embedding and head are never recomputed.

#include "passes/Recompute.h"
#include "passes/BlockBuilder.h"
#include "passes/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class Recomputer {
public:
  Recomputer(Block &B, RecomputeKind Kind)
      : B(B), Build(B, "recompute"), Kind(Kind), Old(std::move(B.Ops)) {
    B.Ops = {};
  }

  void run();

private:
  bool isRepeated(const Op &O) const;
  bool readsRepeated(const Op &Backward) const;
  void repeat(const Op &O);
  ValueId renamed(ValueId V) const {
    auto It = Again.find(V.Index);
    return It == Again.end() ? V : It->second;
  }

  Block &B;
  BlockBuilder Build;
  RecomputeKind Kind;
  Table<OpId, Op> Old;
  llvm::DenseMap<unsigned, OpId> NewId;      ///< by old op
  llvm::DenseMap<unsigned, OpId> RepeatedId; ///< by old op
  llvm::DenseMap<unsigned, ValueId> Again;   ///< by forward value
};

} // namespace

bool Recomputer::isRepeated(const Op &O) const {
  if (O.Phase != Phase::Forward)
    return false;
  if (Kind == RecomputeKind::Full)
    return true;
  const Op &Served = O.For.isValid() ? Old[O.For] : O;
  return Served.Kind == OpKind::Attention;
}

/// Whether the forward op that \p Backward derives from, or serves a derivative
/// of, is repeated.
bool Recomputer::readsRepeated(const Op &Backward) const {
  const Op *O = &Backward;
  while (O->Phase != Phase::Forward) {
    if (!O->For.isValid())
      return false;
    O = &Old[O->For];
  }
  return isRepeated(*O);
}

void Recomputer::repeat(const Op &Forward) {
  Op O = Forward;
  O.Phase = Phase::Recompute;
  O.Origin.Pass = "recompute";
  for (ValueId &V : O.Operands)
    V = renamed(V);
  for (ValueId &V : O.Results) {
    ValueId Copy = Build.derived(V, "again");
    Again[V.Index] = Copy;
    V = Copy;
  }
  B.Ops.add(std::move(O));
}

void Recomputer::run() {
  bool InBackward = false;
  for (size_t I = 0; I < Old.size(); ++I) {
    Op O = Old[Old.idAt(I)];
    if (O.Phase == Phase::Backward && !InBackward) {
      InBackward = true;
      for (size_t F = 0; F < I; ++F)
        if (isRepeated(Old[Old.idAt(F)])) {
          RepeatedId[F] = B.Ops.idAt(B.Ops.size());
          repeat(Old[Old.idAt(F)]);
        }
    }
    if (InBackward && readsRepeated(O))
      for (ValueId &V : O.Operands)
        V = renamed(V);
    NewId[I] = B.Ops.add(std::move(O));
  }
  // References to later ops: a collective stands before the op it serves.
  for (auto [OldIndex, Id] : NewId)
    if (OpId &For = B.Ops[Id].For; For.isValid())
      For = NewId[For.Index];
  for (auto [OldIndex, Id] : RepeatedId) {
    OpId &For = B.Ops[Id].For;
    bool IsServed = For.isValid() && isCollective(B.Ops[Id].Kind);
    For = IsServed ? RepeatedId[For.Index] : NewId[OldIndex];
  }
}

RecomputeKind foretrace::recomputationOf(const Program &P, const Block &B) {
  const auto IsAt = [&](const LayerGroup &G) {
    return &P.Blocks[G.Runs.front().Block] == &B;
  };
  const bool IsEnd =
      !P.Layers.empty() && (IsAt(P.Layers.front()) || IsAt(P.Layers.back()));
  return IsEnd ? RecomputeKind::None : *P.Spec.Train.Recompute;
}

bool foretrace::recompute(Program &P, DiagnosticEngine &) {
  for (Block &B : P.Blocks)
    if (RecomputeKind Kind = recomputationOf(P, B); Kind != RecomputeKind::None)
      Recomputer(B, Kind).run();
  return true;
}
