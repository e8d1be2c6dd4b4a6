// SPDX-License-Identifier: Apache-2.0
#include "ir/schedule/FoldSchedule.h"
#include "lang/Quantity.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

/// Returns whether closed forms can count by themselves.
static bool hasOwnNumbers(const Schedule &S) {
  constexpr int64_t MaxConstant = 2; // halves, pairs, and two steps ahead
  return S.Indices.largestConstant() > MaxConstant;
}

/// Micro-batches that an interleaved stage takes at once, or a pair.
static int64_t unitOf(const Schedule &S) {
  return S.Placement == PlacementKind::Loop && S.Chunks > 1 ? S.Group : 2;
}

/// Micro-batches after which a schedule repeats what it does: as many as reach
/// from the first stage to the last one and back, and then one unit more.
static int64_t repeating(const Schedule &S) {
  const int64_t Unit = unitOf(S);
  const int64_t Reach = S.Placement == PlacementKind::Loop
                            ? std::max(S.Stages, Unit)
                            : 2 * S.Stages;
  return Reach / Unit * Unit + Unit + S.MicroBatches % Unit;
}

int64_t foretrace::ir::periodOf(const Schedule &S) { return unitOf(S); }

int64_t foretrace::ir::fewMicroBatches(const Schedule &S) {
  // Longer schedules are not followed step by step.
  constexpr int64_t MaxSize = int64_t(1) << 31;
  if (std::max(S.Stages, unitOf(S)) < MaxSize && !hasOwnNumbers(S))
    return std::min(S.MicroBatches, repeating(S));
  return S.MicroBatches;
}

Schedule foretrace::ir::foldMicroBatches(const Schedule &S) {
  Schedule Out = S;
  Out.MicroBatches = fewMicroBatches(S);
  return Out;
}

/// \p Size, or about \p Few: as odd or even as it is.
static int64_t few(int64_t Size, int64_t Few) {
  return Size <= Few ? Size : Few + (Size - Few) % 2;
}

/// Leaves two stages of each program, besides the first and the last of all.
static void foldStages(Schedule &S) {
  int64_t Next = 0;
  for (StageProgram &Of : S.Programs) {
    const bool HasFirst = Of.First == 0;
    const bool HasLast = Of.First + Of.Count == S.Stages;
    Of.First = Next;
    Of.Count = few(Of.Count, 2 + HasFirst + HasLast);
    Next += Of.Count;
  }
  if (S.Group == S.Stages)
    S.Group = Next;
  S.Stages = Next;
}

Schedule foretrace::ir::foldSizes(const Schedule &S) {
  Schedule Out = foldMicroBatches(S);
  // Fewer micro-batches than reach through all stages, or groups of another
  // size than the pipeline's, are told apart by how far they reach.
  const bool IsPlain = S.Chunks == 1 || S.Placement != PlacementKind::Loop ||
                       (S.Group == S.Stages && S.MicroBatches % S.Group == 0);
  if (hasOwnNumbers(S) || !IsPlain || S.MicroBatches < repeating(S))
    return Out;
  foldStages(Out);
  if (Out.Placement == PlacementKind::Loop)
    Out.Chunks = few(Out.Chunks, 4);
  Out.MicroBatches = repeating(Out);
  return Out;
}
