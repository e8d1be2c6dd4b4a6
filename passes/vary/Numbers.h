// SPDX-License-Identifier: Apache-2.0
//
// The functions that NUMBER rows of passes/vary/Moves.def name: which members
// of a spec hold a number, and which of its values may be legal. Private to the
// table.
#pragma once

#include "passes/vary/Moves.h"

namespace foretrace::vary {

std::vector<KeyNumber *> findNodes(ir::Spec &S, SourceRange At);

/// One end of the pipeline, if \p At states it.
template <KeyNumber ir::ParallelSpec::*Member>
std::vector<KeyNumber *> findEnd(ir::Spec &S, SourceRange At) {
  KeyNumber &Key = S.Parallel.*Member;
  if (!Key.isPresent() || Key.Range.start() != At.start())
    return {};
  return {&Key};
}

// Keys of layers.
inline constexpr char Heads[] = "heads", KvHeads[] = "kv_heads",
                      HeadDim[] = "head_dim", RopeDim[] = "rope_dim";

/// A key of a layer that \p At states, or that follows from the first one of
/// the layer, which \p At states.
template <const char *Name>
std::vector<KeyNumber *> findOfLayer(ir::Spec &S, SourceRange At) {
  std::vector<KeyNumber *> Found;
  for (ir::BlockSpec &B : S.Model.Blocks)
    for (ir::LayerUse *Use : {&B.Mixer, &B.Network}) {
      auto *Key = Use->find<int64_t>(Name);
      if (!Key)
        continue;
      const auto *First = Use->find<int64_t>(Use->Keys.front().Name);
      const SourceRange Place =
          Key->isPresent() || !First ? Key->Range : First->Range;
      if (Place.start() == At.start())
        Found.push_back(Key);
    }
  return Found;
}

#define VALUES(NAME) Numbers NAME(const ir::Spec &S, const KeyNumber &Now);
VALUES(divisorsOfWorld)
VALUES(divisorsOfReplicas)
VALUES(divisorsOfLayers)
VALUES(divisorsOfHeads)
VALUES(divisorsOfDouble)
VALUES(multiplesOfRanks)
VALUES(multiplesOfBatch)
VALUES(multiplesOfSplit)
VALUES(multiplesOfChunks)
VALUES(multiplesOfHeads)
VALUES(multiplesByTwo)
VALUES(nodesOfWorld)
VALUES(stagesOfZero)
VALUES(numbersAround)
VALUES(sequenceLength)
VALUES(evenNumbers)
#undef VALUES

} // namespace foretrace::vary
