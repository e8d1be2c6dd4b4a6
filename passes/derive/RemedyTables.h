// SPDX-License-Identifier: Apache-2.0
//
// The two tables of what can mend an error of `derive`: numbers, and ways that
// take more than a number. Private to the passes.
#ifndef FORETRACE_PASSES_DERIVE_REMEDYTABLES_H
#define FORETRACE_PASSES_DERIVE_REMEDYTABLES_H

#include "ir/model/Spec.h"
#include "lang/Diagnostic.h"

namespace foretrace::remedies {

/// Values of one key that are tried on each side of what it holds.
constexpr size_t MaxTried = 16;
/// Blocks and chunks of a job whose changes are still tried.
constexpr size_t MaxParts = 4096;

using Values = llvm::SmallVector<int64_t, 16>;

/// A number that can mend an error.
struct NumberKey {
  using Field = Located<int64_t>;

  llvm::StringLiteral Name;
  /// All that hold what \p At states: blocks share an attention section.
  std::vector<Field *> (*Find)(ir::Spec &S, SourceRange At);
  /// What it can be at best, in any order; \p S is derived.
  Values (*List)(const ir::Spec &S, const Field &Now);
};

/// Which numbers can mend which error.
struct NumberRow {
  diag::Id Wrong;
  const NumberKey &Key;
};
llvm::ArrayRef<NumberRow> numberRows();

/// A change of the job, and how it is written.
struct Way {
  std::string Text; ///< empty: there is none
  void set(llvm::StringRef Key, const llvm::Twine &Value) {
    Text += (Text.empty() ? "`" : " and `") + (Key + " = " + Value).str() + "`";
  }
};

enum class WayKind : unsigned char {
  CountEnds,
  Chunks,
  Layout,
  Balance,
  RankOrder,
  World,
  HeadDim,
  Permission
};

/// A way out of some errors.
struct WayRow {
  WayKind Kind;
  llvm::ArrayRef<diag::Id> Wrong;
  Way (*Change)(ir::Spec &);
};
/// From the smallest change to the largest. Of ways of one kind the first that
/// helps is enough.
llvm::ArrayRef<WayRow> wayRows();

} // namespace foretrace::remedies

#endif
