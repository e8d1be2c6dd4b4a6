// SPDX-License-Identifier: Apache-2.0
//
// Values that functions of a Python file return, without running it.
#pragma once

#include "lang/Diagnostic.h"
#include "tools/importers/formulas/ForeignValue.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace foretrace::importers {

/// A function of the file, and what it returns.
struct PythonFunction {
  ast::Word Name;
  ForeignValue Returned;
  /// Statements that name an object of the function and are not followed,
  /// including those in its calls.
  std::vector<SourceRange> Skipped;
};

/// Reads the functions of a file. A call is a map: `call` is what is called,
/// each keyword argument is a member, and the others are `arg0` and so on.
/// Variables, attributes that are set and other functions of the file are
/// followed, also those that change the variable they are called with. Any
/// other expression is a bare text, as it is written.
std::vector<PythonFunction> readPython(SourceText Text);

/// Evaluates an expression of Python without names, such as `[0]*3+[1]*58`.
/// Missing if it is none; a text that is not understood may also be a bare one.
ForeignValue readPythonExpression(llvm::StringRef Text);

/// The function of the name \p Wanted, or, if that is empty, the only one that
/// returns a configuration. Reports a file with none or several; \p Tool is
/// what such a file belongs to, "torchtitan".
const PythonFunction *
chooseFunction(llvm::ArrayRef<PythonFunction> All, llvm::StringRef Wanted,
               llvm::function_ref<bool(const ForeignValue &)> IsConfiguration,
               llvm::StringRef Tool, SourceText Text, DiagnosticEngine &Diags);

} // namespace foretrace::importers
