// SPDX-License-Identifier: Apache-2.0
//
// The keys in an expression, and the origin of their values. Clients that
// explain numbers follow them down to the keys that a job sets.
#pragma once

#include "ir/model/Expr.h"
#include "ir/model/Spec.h"

namespace foretrace::ir {

/// The origin of a key's value.
enum class Reason : unsigned char { Stated, Default, Derived, Counted };
llvm::StringRef getName(Reason R);

/// A key of an expression.
struct KeyOperand {
  std::string Name;
  int64_t Value;
  Reason Why;
  SourceRange Range = {};      ///< where it is set; else invalid
  llvm::StringRef Counts = {}; ///< a description of a counted value
  ExprId Definition = {};      ///< expression of a derived key; else invalid
  std::optional<double> Real = {}; ///< the value, if it is a real number
};

/// Returns the keys of \p Of, an expression of \p Sizes over the keys of \p S:
/// each once, from left to right, without the keys of their definitions.
std::vector<KeyOperand> operandsOf(const Spec &S, const ExprTable &Sizes,
                                   ExprId Of);

} // namespace foretrace::ir
