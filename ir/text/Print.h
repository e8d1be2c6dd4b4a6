// SPDX-License-Identifier: Apache-2.0
//
// The text form of a program (docs/ir.md): stable, one op a line, read back by
// ir/text/Parse.h. print(parse(print(P))) is print(P).
#pragma once

#include "ir/model/Program.h"
#include "lang/SourceFiles.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::ir {

/// The version of the text form that this build writes and reads.
inline constexpr int64_t TextVersion = 1;

/// How sizes are printed.
enum class SizeStyle : unsigned char {
  Names,   ///< `sequence*hidden/tp`
  Values,  ///< `3145728`
  Both,    ///< `sequence*hidden/tp=3145728`
  Numbers, ///< `2048*12288/8`
};

struct PrintOptions {
  SizeStyle Sizes = SizeStyle::Names;
  /// If given, every op ends with the place in these sources it comes from,
  /// and the pass and rule that made it.
  const SourceFiles *Locations = nullptr;
};

/// Prints all of \p P.
void print(const Program &P, llvm::raw_ostream &OS,
           const PrintOptions &Options = {});

/// Prints a type and its layout, as on an op's line: `bf16[seq:sequence@tp
/// batch:micro_batch@dp hidden:hidden] partial(cp)`.
void print(const Program &P, const TensorType &T, const Layout &L,
           llvm::raw_ostream &OS, SizeStyle Style = SizeStyle::Names);

/// Prints a size of \p Sizes, whose keys are those of \p S. A size without a
/// value is printed as an expression.
void print(const Spec &S, const ExprTable &Sizes, ExprId E,
           llvm::raw_ostream &OS, SizeStyle Style = SizeStyle::Names);
/// Prints a real number of an expression with six digits; printReal is exact.
void printRounded(double Value, llvm::raw_ostream &OS);
/// Prints a size of \p P.
void print(const Program &P, ExprId E, llvm::raw_ostream &OS,
           SizeStyle Style = SizeStyle::Names);

} // namespace foretrace::ir
