// SPDX-License-Identifier: Apache-2.0
//
// The functions that NUMBER rows of passes/vary/Moves.def name: which members
// of a spec hold a number, and which of its values may be legal. Private to the
// table.
#ifndef FORETRACE_PASSES_VARY_NUMBERS_H
#define FORETRACE_PASSES_VARY_NUMBERS_H

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

/// A key of attention that \p At states, or that follows from `heads`, which
/// \p At states.
template <KeyNumber ir::AttentionSpec::*Member>
std::vector<KeyNumber *> findOfHeads(ir::Spec &S, SourceRange At) {
  std::vector<KeyNumber *> Found;
  for (ir::BlockSpec &B : S.Model.Blocks) {
    KeyNumber &Key = B.Attention.*Member;
    const SourceRange Place =
        Key.isPresent() ? Key.Range : B.Attention.Heads.Range;
    if (Place.start() == At.start())
      Found.push_back(&Key);
  }
  return Found;
}

#define VALUES(NAME) Numbers NAME(const ir::Spec &S, const KeyNumber &Now);
VALUES(divisorsOfWorld)
VALUES(divisorsOfReplicas)
VALUES(divisorsOfLayers)
VALUES(divisorsOfHeads)
VALUES(divisorsOfItself)
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

#endif
