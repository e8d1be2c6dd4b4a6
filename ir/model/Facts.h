// SPDX-License-Identifier: Apache-2.0
//
// Sets of facts about a program (ir/model/Facts.def).
#pragma once

#include "llvm/ADT/StringRef.h"
#include <initializer_list>

namespace foretrace::ir {

enum class Fact : unsigned char {
#define FACT(ENUMERATOR, SPELLING, MAKES, LEVEL, DOC) ENUMERATOR,
#include "ir/model/Facts.def"
};
inline constexpr unsigned NumFacts = 0
#define FACT(ENUMERATOR, SPELLING, MAKES, LEVEL, DOC) +1
#include "ir/model/Facts.def"
    ;
llvm::StringRef getName(Fact F);

/// A small set of facts.
class FactSet {
public:
  constexpr FactSet() = default;
  constexpr FactSet(std::initializer_list<Fact> Facts) {
    for (Fact F : Facts)
      insert(F);
  }
  constexpr void insert(Fact F) { Bits |= bit(F); }
  constexpr void insert(FactSet S) { Bits |= S.Bits; }
  constexpr bool contains(Fact F) const { return Bits & bit(F); }
  constexpr bool contains(FactSet S) const { return (Bits & S.Bits) == S.Bits; }
  constexpr bool intersects(FactSet S) const { return Bits & S.Bits; }
  /// Returns the facts of this set that \p S lacks.
  constexpr FactSet minus(FactSet S) const {
    FactSet R;
    R.Bits = Bits & ~S.Bits;
    return R;
  }
  constexpr bool empty() const { return Bits == 0; }

private:
  static constexpr unsigned bit(Fact F) {
    return 1u << static_cast<unsigned>(F);
  }
  unsigned Bits = 0;
};

} // namespace foretrace::ir
