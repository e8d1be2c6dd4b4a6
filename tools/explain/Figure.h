// SPDX-License-Identifier: Apache-2.0
//
// A number of a job as a tree: what it is made of, down to where each key is
// stated.
#ifndef FORETRACE_TOOLS_EXPLAIN_FIGURE_H
#define FORETRACE_TOOLS_EXPLAIN_FIGURE_H

#include "analysis/Figures.h"
#include "ir/model/Operands.h"
#include "ir/model/Program.h"
#include <vector>

namespace foretrace::explain {

struct Operand;

/// An expression, and the keys in it.
struct Derivation {
  std::string Names;             ///< `hidden*sequence*2`
  std::string Numbers;           ///< `12288*2048*2`
  std::vector<Operand> Operands; ///< each once, in order
  std::string Note = {};         ///< what there is to say besides
};

using ir::Reason;

/// A key of an expression.
struct Operand {
  std::string Name;
  int64_t Value = 0;
  llvm::StringRef Unit = {}; ///< where the key does not say it
  Reason Why = Reason::Derived;
  SourceRange Range;                    ///< where it is stated; else invalid
  llvm::StringRef Counts;               ///< what was counted
  std::optional<Derivation> Definition; ///< what it follows from
};

/// A number that is stated at \p Range; derived, if nothing says where.
Operand makeStated(llvm::StringRef Name, int64_t Value, llvm::StringRef Unit,
                   SourceRange Range);
/// A number that follows from \p From.
Operand makeDerived(std::string Name, int64_t Value, llvm::StringRef Unit,
                    Derivation From);
/// \p Formula, in which `$0` is the first of \p Operands: with their names, and
/// with their values.
Derivation makeDerivation(llvm::StringRef Formula,
                          std::vector<Operand> Operands);

/// A number with its unit.
struct Figure {
  std::string What;  ///< "message", "result linear_qkv.out"
  int64_t Value = 0; ///< ir::NoValue if it is beyond 2^63
  llvm::StringRef Unit;
  Derivation From;
};

/// What figures are of: an op, a parameter, a stage.
struct Subject {
  std::string What;
  ir::Origin Origin; ///< of an op; else a range alone
  std::vector<Figure> Figures;
};

/// As explanations name a unit.
llvm::StringRef unitName(FigureUnit U);

/// Makes figures of expressions about a program.
class FigureMaker {
public:
  explicit FigureMaker(const ir::Program &P) : FigureMaker(P.Spec, P.Sizes) {}
  /// \p Sizes may be on top of those of the program.
  FigureMaker(const ir::Spec &Job, const ir::ExprTable &Sizes)
      : Job(Job), Sizes(Sizes) {}

  Figure make(std::string What, ir::ByteExpr Of) const {
    return make(std::move(What), Of.Id, "bytes");
  }
  Figure make(std::string What, ir::ElementExpr Of) const {
    return make(std::move(What), Of.Id, "elements");
  }
  Figure make(std::string What, ir::FlopExpr Of) const {
    return make(std::move(What), Of.Id, "FLOPs");
  }
  Figure make(std::string What, ir::ExprId Of, FigureUnit Unit) const {
    return make(std::move(What), Of, unitName(Unit));
  }
  Derivation derive(ir::ExprId Of) const;
  /// \p Of as a part of another number.
  Operand part(std::string Name, ir::ExprId Of, llvm::StringRef Unit) const {
    return makeDerived(std::move(Name), Sizes.value(Of), Unit, derive(Of));
  }

private:
  Figure make(std::string What, ir::ExprId Of, llvm::StringRef Unit) const;
  Operand operandOf(ir::KeyOperand Key) const;

  const ir::Spec &Job;
  const ir::ExprTable &Sizes;
};

} // namespace foretrace::explain

#endif
