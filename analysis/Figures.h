// SPDX-License-Identifier: Apache-2.0
//
// The quantities of a job that people ask for (analysis/Figures.def), as
// expressions: each command, report and sweep reads them here.
#ifndef FORETRACE_ANALYSIS_FIGURES_H
#define FORETRACE_ANALYSIS_FIGURES_H

#include "analysis/StageMemory.h"

namespace foretrace {

/// What a number counts.
enum class FigureUnit : unsigned char {
  Text,      ///< words, none
  Count,     ///< things
  Flag,      ///< 1 or 0, read as yes or no
  Bytes,     ///< read as MiB
  Flops,     ///< read as GFLOP
  Millionths ///< of a whole, read as a percentage
};

/// The units of expressions.
constexpr FigureUnit unitOf(ir::ByteExpr) { return FigureUnit::Bytes; }
constexpr FigureUnit unitOf(ir::ElementExpr) { return FigureUnit::Count; }
constexpr FigureUnit unitOf(ir::FlopExpr) { return FigureUnit::Flops; }

/// Rows of analysis/Figures.def; those of stages first.
enum class FigureId : unsigned char {
#define STAGE_FIGURE(ENUMERATOR, ...) ENUMERATOR,
#include "analysis/Figures.def"
#define JOB_FIGURE(ENUMERATOR, ...) ENUMERATOR,
#include "analysis/Figures.def"
};

struct FigureInfo {
  std::string Name; ///< `peak`; of a group `messages_dp_cp`
  FigureUnit Unit;
  std::string Doc;
};

/// The rows of analysis/Figures.def, then the messages of each group of
/// ir/model/Groups.def: what sweeps call metrics, the same for all jobs.
llvm::ArrayRef<FigureInfo> allFigures();
const FigureInfo &getInfo(FigureId Id);

/// Makes the figures of one program, which is totalled.
class JobFigures {
public:
  JobFigures(ir::ExprScope P, Validity For) : P(P), For(For) {}

  /// A figure of stages, of a rank of those that \p S stands for.
  ir::Expr of(FigureId Id, const ir::Stage &S);
  /// A figure of the job; one of stages of the rank with most. Nothing if the
  /// job does not state what it needs.
  std::optional<ir::Expr> of(FigureId Id);
  /// All, in the order of `allFigures`.
  std::vector<std::optional<ir::ExprId>> all();

  // What the expressions of analysis/Figures.def are made of.
  ir::ExprScope scope() const { return P; }
  StageMemories &memories();
  ir::Expr inFlight(const ir::Stage &S) const;
  ir::Expr messages(const ir::Stage &S) const;
  ir::Expr bubble() const;
  std::optional<ir::Expr> fits();
  std::optional<ir::Expr> crossNode() const;

private:
  ir::Expr messagesOf(llvm::StringRef Group) const;

  ir::ExprScope P;
  const Validity For;
  std::optional<StageMemories> Memories;
};

} // namespace foretrace

#endif
