// SPDX-License-Identifier: Apache-2.0
//
// Operators and functions on values.
// Private to the frontend.
#pragma once

#include "frontend/Value.h"
#include "llvm/ADT/ArrayRef.h"

namespace foretrace {

/// Reports that \p Op, an operator or function, takes no \p A and \p B. Notes
/// add the unit that a number lacks, or how a quotient becomes a count.
void reportMismatch(const ast::Word &Op, const ExprValue &A, const ExprValue &B,
                    DiagnosticEngine &Diags);

/// The dimension of \p A op \p B, numbers that are not compared; nothing if
/// they don't go together.
std::optional<Dimension> dimensionOf(ast::BinaryOp Op, Dimension A,
                                     Dimension B);

/// \p A op \p B; \p Range is the whole expression.
std::optional<ExprValue> applyBinary(ast::BinaryOp Op, SourceRange OpRange,
                                     const ExprValue &A, const ExprValue &B,
                                     SourceRange Range,
                                     DiagnosticEngine &Diags);
std::optional<ExprValue> applyUnary(ast::UnaryOp Op, const ExprValue &A,
                                    SourceRange Range, DiagnosticEngine &Diags);

/// A function of expressions.
struct FunctionInfo {
  llvm::StringLiteral Name, Arguments, Doc;
};
llvm::ArrayRef<FunctionInfo> allFunctions();

/// Applies a function to its values.
std::optional<ExprValue> applyCall(const ast::Word &Callee,
                                   llvm::ArrayRef<ExprValue> Arguments,
                                   SourceRange Range, DiagnosticEngine &Diags);

// Return an expression of the sweep's table if an operand depends on its
// points.
std::optional<ExprValue> applyToPoints(ast::BinaryOp Op, SourceRange OpRange,
                                       const ExprValue &A, const ExprValue &B,
                                       SourceRange Range,
                                       DiagnosticEngine &Diags);
std::optional<ExprValue> applyToPoints(ast::UnaryOp Op, const ExprValue &A,
                                       SourceRange Range,
                                       DiagnosticEngine &Diags);
/// A number that always exists, and a condition, 1 if the number is the value
/// of \p E; 0 if a division in it has a remainder or a divisor below 1.
struct GuardedExpr {
  ir::Expr Number, Exists;
};
GuardedExpr guard(ir::Expr E);
/// `min` and `max`.
std::optional<ExprValue> chooseOfPoints(const ast::Word &Callee,
                                        const ExprValue &A, const ExprValue &B,
                                        SourceRange Range,
                                        DiagnosticEngine &Diags);

} // namespace foretrace
