// SPDX-License-Identifier: Apache-2.0
//
// The functions that WAYS of passes/vary/Moves.def name: changes of
// several keys, or of one that is no number. Private to the table.
#pragma once

#include "ir/model/Spellings.h"
#include "passes/vary/Moves.h"

namespace foretrace::vary {

/// Sets a key, if it has another value.
template <typename T>
void write(KeyTexts &W, llvm::StringRef Name, Located<T> &Key, T Value) {
  if (Key.is(Value))
    return;
  Key.state(Value, Key.Range);
  W.push_back({Name, ir::spell(Value)});
}

KeyTexts countEmbedding(ir::Spec &S);
KeyTexts countLoss(ir::Spec &S);
KeyTexts countBoth(ir::Spec &S);
KeyTexts countNeither(ir::Spec &S);
KeyTexts countChunks(ir::Spec &S);
KeyTexts writeLayout(ir::Spec &S);
KeyTexts writeEmptyEnds(ir::Spec &S);
KeyTexts balance(ir::Spec &S);
KeyTexts divideWorld(ir::Spec &S);
KeyTexts stateHeadDim(ir::Spec &S);

} // namespace foretrace::vary
