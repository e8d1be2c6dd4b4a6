// SPDX-License-Identifier: Apache-2.0
//
// The moves of passes/vary/Moves.def: which keys of a job can be changed, to
// what, and how that is written. Whether a changed job is legal, and better, is
// for the caller to find out.
#ifndef FORETRACE_PASSES_VARY_MOVES_H
#define FORETRACE_PASSES_VARY_MOVES_H

#include "ir/model/Spec.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <functional>
#include <optional>

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
/// `zero = 1, recompute = full`.
std::string textOf(llvm::ArrayRef<KeyText> Keys);

/// Changes a job and returns the keys that it wrote; none if the job has these
/// values already, or can't have them.
using Way = KeyTexts (*)(ir::Spec &);

/// Cost of using less memory, from the cheapest.
enum class Price : unsigned char {
  Nothing,
  Messages,
  Work,      ///< forward passes that are repeated
  Ranks,     ///< smaller kernels, more messages
  Precision, ///< of what the optimizer remembers
  Host,      ///< copies to the memory of the host, whose time is not estimated
  None,      ///< it is no matter of memory
};

/// Values of a number with which ranks need less memory.
enum class Steps : unsigned char {
  None,
  Larger,
  Doubled, ///< a power of two times as many
  Halved,
};

/// A row of passes/vary/Moves.def.
enum class MoveId : unsigned char {
#define NUMBER(ENUMERATOR, ...) ENUMERATOR,
#define WAYS(ENUMERATOR, ...) ENUMERATOR,
#define PARTS(ENUMERATOR, ...) ENUMERATOR,
#include "passes/vary/Moves.def"
};

struct Move {
  MoveId Id;
  Price Of;
  bool IsOfTime; ///< false for PARTS

  // A NUMBER.
  llvm::StringLiteral Key = ""; ///< empty if it is none
  /// All members that hold what \p At states: blocks share a section.
  std::vector<KeyNumber *> (*Find)(ir::Spec &S, SourceRange At) = nullptr;
  /// The values that may be legal, in any order; \p S is derived.
  Numbers (*List)(const ir::Spec &S, const KeyNumber &Now) = nullptr;
  Steps By = Steps::None;

  // WAYS.
  llvm::ArrayRef<Way> Ways = {};

  // PARTS.
  llvm::SmallVector<llvm::StringRef, 8> (*Parts)(const ir::Spec &S) = nullptr;
  KeyTexts (*Write)(ir::Spec &S,
                    llvm::ArrayRef<llvm::StringRef> Parts) = nullptr;
};

llvm::ArrayRef<Move> allMoves();
const Move &getMove(MoveId Id);

/// Other values of one key of a job, or of several that belong together.
struct Change {
  KeyTexts Keys;
  std::function<void(ir::Spec &)> Apply;

  /// Whether both are of the same key.
  bool isAgainst(const Change &Other) const;
};

/// Returns the change that \p Make makes to a job that states \p S; nothing if
/// it changes nothing.
std::optional<Change> makeChange(const ir::Spec &S,
                                 std::function<KeyTexts(ir::Spec &)> Make);

/// The changes of \p M, a NUMBER or WAYS, with which a job that states \p
/// Stated may need less memory, from the smallest; \p Derived is the same job
/// with what follows.
std::vector<Change> stepsOf(const Move &M, const ir::Spec &Stated,
                            const ir::Spec &Derived);

/// Returns changes of single keys that may make an iteration shorter: of
/// numbers the next larger and the next smaller value.
std::vector<Change> changesOfTime(const ir::Spec &Stated,
                                  const ir::Spec &Derived);

} // namespace foretrace::vary

#endif
