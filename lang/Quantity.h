// SPDX-License-Identifier: Apache-2.0
//
// Integers with a unit. Bytes can't be added to elements, and an overflow of
// 2^63 sticks to the value until someone who knows the source line reports it.
#pragma once

#include "llvm/Support/Compiler.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>
#include <cstdint>

namespace foretrace {

/// Ends the run with a message that a number exceeds 2^63.
[[noreturn]] void endOfNumbers();

/// A non-negative count of one unit, exact below 2^63. Arithmetic never wraps:
/// once a result overflows, it and everything made from it `isOverflow()`.
/// Reading the value of an overflown quantity is a bug (asserted), and ends the
/// run.
template <typename Unit> class Quantity {
public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(int64_t V) : Count(V) {}
  static constexpr Quantity overflow() {
    Quantity Q;
    Q.Overflown = true;
    return Q;
  }

  bool isOverflow() const { return Overflown; }
  int64_t value() const {
    assert(!Overflown && "an overflown quantity has no value");
    if (LLVM_UNLIKELY(Overflown))
      endOfNumbers();
    return Count;
  }

  Quantity operator+(Quantity O) const {
    int64_t Sum = 0;
    return Overflown || O.Overflown || llvm::AddOverflow(Count, O.Count, Sum)
               ? overflow()
               : Quantity(Sum);
  }
  Quantity &operator+=(Quantity O) { return *this = *this + O; }
  Quantity operator*(int64_t Factor) const {
    int64_t Product = 0;
    return Overflown || llvm::MulOverflow(Count, Factor, Product)
               ? overflow()
               : Quantity(Product);
  }
  /// Division that must leave no rest; callers prove divisibility beforehand.
  Quantity dividedExactly(int64_t Divisor) const {
    if (Overflown)
      return overflow();
    assert(Divisor > 0 && Count % Divisor == 0 && "inexact division");
    return Quantity(Count / Divisor);
  }
  /// Divides and rounds towards zero, to imitate tools that do.
  Quantity dividedDown(int64_t Divisor) const {
    return Overflown ? overflow() : Quantity(Count / Divisor);
  }
  bool isDivisibleBy(int64_t Divisor) const {
    return Overflown || Count % Divisor == 0;
  }

  friend bool operator==(Quantity A, Quantity B) {
    return A.Overflown == B.Overflown && A.Count == B.Count;
  }
  friend bool operator!=(Quantity A, Quantity B) { return !(A == B); }

private:
  int64_t Count = 0;
  bool Overflown = false;
};

using Bytes = Quantity<struct ByteUnit>;
using Elements = Quantity<struct ElementUnit>;
using Flops = Quantity<struct FlopUnit>;
using Nanoseconds = Quantity<struct NanosecondUnit>;

/// The bytes that \p N elements of \p BytesPerElement take.
inline Bytes bytesOf(Elements N, int64_t BytesPerElement) {
  return N.isOverflow() ? Bytes::overflow()
                        : Bytes(N.value()) * BytesPerElement;
}

} // namespace foretrace
