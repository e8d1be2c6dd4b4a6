// SPDX-License-Identifier: Apache-2.0
//
// Numbers as people read them.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace foretrace {

/// One of the units in which people read numbers of a kind.
struct NumberScale {
  llvm::StringLiteral Suffix; ///< of a number, or of a heading: ` GiB`
  double Of;                  ///< the number that makes one unit
  int Decimals;               ///< in columns, at least; 0 in the smallest unit
};

/// Units of bytes, of parameters, of FLOPs and of times in ns, from the
/// smallest one, in which numbers have all their digits.
llvm::ArrayRef<NumberScale> byteScales();
llvm::ArrayRef<NumberScale> countScales();
llvm::ArrayRef<NumberScale> flopScales();
llvm::ArrayRef<NumberScale> timeScales();

/// Returns the largest of \p Scales of which \p Number is at least one, or the
/// smallest.
const NumberScale &scaleFor(double Number, llvm::ArrayRef<NumberScale> Scales);

/// Prints four digits, in the largest unit that gives at least 1.
std::string printScaled(double Number, llvm::ArrayRef<NumberScale> Scales);
/// `64 GiB`.
std::string printBytes(double Count);
/// `6.738 B` parameters, or all digits of less than a million.
std::string printCount(double Count);

/// The numbers [First, First + Count): of stages that are alike, or of chunks.
struct IndexRange {
  int64_t First, Count;

  int64_t last() const { return First + Count - 1; }
  friend bool operator==(IndexRange A, IndexRange B) {
    return A.First == B.First && A.Count == B.Count;
  }
  friend bool operator!=(IndexRange A, IndexRange B) { return !(A == B); }
};

/// Prints a range for people: `1-6`, or `1` for a single number.
std::string printRange(IndexRange Of, llvm::StringRef To = "-");
/// Prints a range as every JSON document contains it: `[1, 6]`, or `[1, 1]`.
std::string printPair(IndexRange Of);

} // namespace foretrace
