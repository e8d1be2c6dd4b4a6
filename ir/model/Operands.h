// SPDX-License-Identifier: Apache-2.0
//
// What an expression is made of: the keys in it, and why each has its value.
// Who shows where numbers come from follows them down to what a job states.
#ifndef FORETRACE_IR_MODEL_OPERANDS_H
#define FORETRACE_IR_MODEL_OPERANDS_H

#include "ir/model/Expr.h"
#include "ir/model/Spec.h"

namespace foretrace::ir {

/// Why a key has its value.
enum class Reason : unsigned char { Stated, Default, Derived, Counted };
llvm::StringRef getName(Reason R);

/// A key of an expression.
struct KeyOperand {
  std::string Name;
  int64_t Value;
  Reason Why;
  SourceRange Range = {};      ///< where it is stated; else invalid
  llvm::StringRef Counts = {}; ///< what was counted
  ExprId Definition = {};      ///< what it follows from; invalid if nothing
};

/// The keys of \p Of, an expression of \p Sizes over the keys of \p S: each
/// once, from left to right; not those that they follow from.
std::vector<KeyOperand> operandsOf(const Spec &S, const ExprTable &Sizes,
                                   ExprId Of);

} // namespace foretrace::ir

#endif
