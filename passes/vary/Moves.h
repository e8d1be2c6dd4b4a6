// SPDX-License-Identifier: Apache-2.0
//
// The moves of passes/vary/Moves.def: which keys of a job can be changed, to
// what, and how that is written. Whether a changed job is legal, and better, is
// for the caller to find out.
#pragma once

#include "ir/model/Spec.h"
#include "llvm/ADT/SmallVector.h"

namespace foretrace::vary {

/// Blocks and chunks of the largest job that is changed.
constexpr size_t MaxParts = 4096;

using KeyNumber = Located<int64_t>;
using Numbers = llvm::SmallVector<int64_t, 16>;

/// A key with a value, as a job states them.
struct KeyText {
  llvm::StringRef Key;
  std::string Value;
};
using KeyTexts = llvm::SmallVector<KeyText, 2>;

/// Changes a job and returns the keys that it wrote; none if the job has these
/// values already, or can't have them.
using Way = KeyTexts (*)(ir::Spec &);

/// A row of passes/vary/Moves.def.
enum class MoveId : unsigned char {
#define NUMBER(ENUMERATOR, ...) ENUMERATOR,
#define WAYS(ENUMERATOR, ...) ENUMERATOR,
#include "passes/vary/Moves.def"
};

struct Move {
  MoveId Id;

  // A NUMBER.
  llvm::StringLiteral Key = ""; ///< empty if it has no key
  /// All members that hold what \p At states: blocks share a section.
  std::vector<KeyNumber *> (*Find)(ir::Spec &S, SourceRange At) = nullptr;
  /// The values that may be legal, in any order; \p S is derived.
  Numbers (*List)(const ir::Spec &S, const KeyNumber &Now) = nullptr;

  // WAYS.
  llvm::ArrayRef<Way> Ways = {};
};

llvm::ArrayRef<Move> allMoves();
const Move &getMove(MoveId Id);

} // namespace foretrace::vary
