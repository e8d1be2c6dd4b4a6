// SPDX-License-Identifier: Apache-2.0
//
// Operators and functions on values.
// Private to the frontend.
#ifndef FORETRACE_FRONTEND_ARITHMETIC_H
#define FORETRACE_FRONTEND_ARITHMETIC_H

#include "frontend/Value.h"
#include "llvm/ADT/ArrayRef.h"

namespace foretrace {

/// As a message calls it: "+", "<=".
llvm::StringRef getSpelling(ast::BinaryOp Op);

/// \p A op \p B, except `and` and `or`; \p Range is the whole expression.
std::optional<Value> applyBinary(ast::BinaryOp Op, SourceRange OpRange,
                                 const Value &A, const Value &B,
                                 SourceRange Range, DiagnosticEngine &Diags);
std::optional<Value> applyUnary(ast::UnaryOp Op, const Value &A,
                                SourceRange Range, DiagnosticEngine &Diags);

/// `min`, `max`, `floor_div`, `ceil_div` of two values.
std::optional<Value> applyCall(const ast::Word &Callee,
                               llvm::ArrayRef<Value> Arguments,
                               SourceRange Range, DiagnosticEngine &Diags);

} // namespace foretrace

#endif
