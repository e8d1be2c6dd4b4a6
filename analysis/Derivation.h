// SPDX-License-Identifier: Apache-2.0
//
// Derivations of numbers of a job, as trees: an expression, its keys, and so on
// down to where each key is stated.
#pragma once

#include "analysis/Figures.h"
#include "ir/model/Operands.h"
#include "ir/model/Program.h"
#include "lang/NumberText.h"
#include <optional>
#include <vector>

namespace foretrace {

struct DerivedOperand;

/// An expression, and the keys in it.
struct Derivation {
  std::string Names;                    ///< `hidden*sequence*2`
  std::string Numbers;                  ///< `12288*2048*2`
  std::vector<DerivedOperand> Operands; ///< each once, in order
  std::string Note = {};                ///< a remark, or empty
};

using ir::Reason;

/// A key of an expression.
struct DerivedOperand {
  std::string Name;
  int64_t Value = 0;
  llvm::StringRef Unit = {}; ///< if the name does not imply it
  Reason Why = Reason::Derived;
  SourceRange Range;                    ///< where it is stated; else invalid
  llvm::StringRef Counts;               ///< the thing that was counted
  std::optional<Derivation> Definition; ///< the expression it is defined by
  std::optional<double> Real;           ///< the value, if it is a real number
};

/// Makes an operand that is stated at \p Range; a derived one if \p Range is
/// invalid.
DerivedOperand makeStated(llvm::StringRef Name, int64_t Value,
                          llvm::StringRef Unit, SourceRange Range);
/// Makes an operand that follows from \p From.
DerivedOperand makeDerived(std::string Name, int64_t Value,
                           llvm::StringRef Unit, Derivation From);
/// Fills \p Formula, in which `$0` is the first of \p Operands, with their
/// names and with their values.
Derivation makeDerivation(llvm::StringRef Formula,
                          std::vector<DerivedOperand> Operands);

/// A number with its unit.
struct DerivedFigure {
  std::string What;  ///< "message", "result linear_qkv.out"
  int64_t Value = 0; ///< ir::NoValue from 2^63 on
  llvm::StringRef Unit;
  Derivation From;
};

/// An op, a parameter, a stage or a cell of a file, with its figures.
struct Subject {
  std::string What;
  ir::Origin Origin; ///< without a pass and a rule if it is not an op
  std::vector<DerivedFigure> Figures;
  std::optional<IndexRange> Stages = std::nullopt; ///< if it is of stages
};

using Subjects = std::vector<Subject>;

/// Returns the block of \p P that contains \p O.
const ir::Block &blockOf(const ir::Program &P, const ir::Op &O);

/// Describes \p O, an op of \p B or of some block of \p P, without figures:
/// `layer/linear_qkv: matmul, forward`.
Subject describeOp(const ir::Block &B, const ir::Op &O);
Subject describeOp(const ir::Program &P, const ir::Op &O);

/// Returns the name that explanations use for a unit.
llvm::StringRef unitName(FigureUnit U);

/// Derives figures from expressions of a program.
class FigureMaker {
public:
  explicit FigureMaker(const ir::Program &P) : FigureMaker(P.Spec, P.Sizes) {}
  /// \p Sizes may extend those of the program.
  FigureMaker(const ir::Spec &Job, const ir::ExprTable &Sizes)
      : Job(Job), Sizes(Sizes) {}

  DerivedFigure make(std::string What, ir::ByteExpr Of) const {
    return make(std::move(What), Of.Id, "bytes");
  }
  DerivedFigure make(std::string What, ir::ElementExpr Of) const {
    return make(std::move(What), Of.Id, "elements");
  }
  DerivedFigure make(std::string What, ir::FlopExpr Of) const {
    return make(std::move(What), Of.Id, "FLOPs");
  }
  DerivedFigure make(std::string What, ir::ExprId Of, FigureUnit Unit) const {
    return make(std::move(What), Of, unitName(Unit));
  }
  Derivation derive(ir::ExprId Of) const;
  /// Makes \p Of an operand of another number.
  DerivedOperand part(std::string Name, ir::ExprId Of,
                      llvm::StringRef Unit) const {
    return makeDerived(std::move(Name), Sizes.value(Of), Unit, derive(Of));
  }

private:
  DerivedFigure make(std::string What, ir::ExprId Of,
                     llvm::StringRef Unit) const;
  DerivedOperand operandOf(ir::KeyOperand Key) const;

  const ir::Spec &Job;
  const ir::ExprTable &Sizes;
};

} // namespace foretrace
