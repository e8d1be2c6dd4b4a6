// SPDX-License-Identifier: Apache-2.0
#include "passes/vary/Moves.h"
#include "passes/vary/Numbers.h"
#include "passes/vary/Ways.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::vary;

#define SET(KEY, FIELD, VALUE)                                                 \
  [](Spec &S) {                                                                \
    KeyTexts W;                                                                \
    write(W, KEY, S.FIELD, VALUE);                                             \
    return W;                                                                  \
  }
#define WAYS(ENUMERATOR, ...)                                                  \
  static constexpr Way WaysOf##ENUMERATOR[] = {__VA_ARGS__};
#include "passes/vary/Moves.def"

llvm::ArrayRef<Move> vary::allMoves() {
#define KEY(FIELD)                                                             \
  [](Spec &S, SourceRange) { return std::vector<KeyNumber *>{&S.FIELD}; }
#define NUMBER(ENUMERATOR, NAME, FIND, VALUES)                                 \
  {MoveId::ENUMERATOR, NAME, FIND, VALUES},
#define WAYS(ENUMERATOR, ...)                                                  \
  {MoveId::ENUMERATOR, "", nullptr, nullptr, WaysOf##ENUMERATOR},
  static constexpr Move Rows[] = {
#include "passes/vary/Moves.def"
  };
#undef KEY
  return Rows;
}
#undef SET

const Move &vary::getMove(MoveId Id) {
  return allMoves()[static_cast<size_t>(Id)];
}
