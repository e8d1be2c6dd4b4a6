// SPDX-License-Identifier: Apache-2.0
//
// The binary operators of the language.
#pragma once

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstddef>

namespace foretrace {

enum class BinaryOp : unsigned char {
#define OPERATOR(ENUMERATOR, SPELLING) ENUMERATOR,
#include "lang/Operators.def"
};
inline constexpr llvm::StringRef OperatorSpellings[] = {
#define OPERATOR(ENUMERATOR, SPELLING) SPELLING,
#include "lang/Operators.def"
};
/// Returns the name of an operator in messages: "+", "<=".
inline llvm::StringRef getSpelling(BinaryOp Op) {
  return OperatorSpellings[static_cast<size_t>(Op)];
}
/// Returns the operator of that spelling, which there is.
inline BinaryOp operatorOf(llvm::StringRef Spelling) {
  return static_cast<BinaryOp>(llvm::find(OperatorSpellings, Spelling) -
                               OperatorSpellings);
}

} // namespace foretrace
