// SPDX-License-Identifier: Apache-2.0
//
// Figures: the quantities of a job that commands, reports and sweeps print
// (analysis/Figures.def), as expressions.
#pragma once

#include "analysis/IterationTime.h"
#include "analysis/StageMemory.h"

namespace foretrace {

/// The unit of a number.
enum class FigureUnit : unsigned char {
  Text,       ///< words, not a number
  Count,      ///< a number of things, printed with all digits
  LargeCount, ///< of parameters or tokens, printed as millions or billions
  Flag,       ///< 1 or 0, printed as yes or no
  Bytes,      ///< printed as GiB
  Flops,      ///< printed as TFLOP
  Millionths, ///< of a whole, printed as a percentage
  HalfRange,  ///< the same, of the range of nine of ten runs around a number
  Time        ///< in ns, printed as ms
};

/// Returns \p Part of \p Whole in millionths, rounded down; 0 of nothing. \p
/// Part is less than 2^107.
inline __int128 millionths(__int128 Part, __int128 Whole) {
  return Whole == 0 ? 0 : Part * 1000000 / Whole;
}

/// Returns the name of a unit: `bytes`. Of all counts it is `count`.
llvm::StringRef getName(FigureUnit U);

/// Returns the unit of an expression type.
constexpr FigureUnit unitOf(ir::ByteExpr) { return FigureUnit::Bytes; }
constexpr FigureUnit unitOf(ir::ElementExpr) { return FigureUnit::LargeCount; }
constexpr FigureUnit unitOf(ir::FlopExpr) { return FigureUnit::Flops; }

/// Rows of analysis/Figures.def; figures of stages come first.
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

/// Returns the rows of analysis/Figures.def, then the messages of each group of
/// ir/model/Groups.def. These are the metrics of sweeps, the same for all jobs.
llvm::ArrayRef<FigureInfo> allFigures();
const FigureInfo &getInfo(FigureId Id);

/// Returns the figures of stages, and the others, that such a program has if it
/// has the keys that they need.
std::vector<FigureId> stageFiguresOf(const ir::Program &P);
std::vector<FigureId> jobFiguresOf(const ir::Program &P);

/// Returns whether a figure follows from the time of an iteration.
bool isOfTime(FigureId Id);
/// Returns whether it follows from the parts of that time.
bool isOfParts(FigureId Id);
/// Returns whether the figure of that name follows from the time; false if it
/// is none.
bool isOfTime(llvm::StringRef Name);
/// Returns whether a figure must be computed for each job, because no
/// expression over the keys of \p P gives it.
bool isOfJobAlone(FigureId Id, const ir::Program &P);

/// Builds the figures of one program, which has totals.
class JobFigures {
public:
  JobFigures(ir::ExprScope P, Validity For) : P(P), For(For) {}

  /// Returns a figure per rank of the stages that \p S represents.
  ir::Expr of(FigureId Id, const ir::Stage &S);
  /// Returns a figure of the job. A figure of stages is its maximum over all
  /// ranks. Returns nothing if the job lacks a key that the figure needs.
  std::optional<ir::Expr> of(FigureId Id);
  /// Returns all figures, in the order of `allFigures`; nothing for those whose
  /// number \p IsWanted does not accept.
  std::vector<std::optional<ir::ExprId>>
  all(llvm::function_ref<bool(size_t)> IsWanted = [](size_t) { return true; });

  // Building blocks of the expressions in analysis/Figures.def.
  ir::ExprScope scope() const { return P; }
  StageMemories &memories();
  /// Returns the estimate of this job, which has costs.
  const IterationTime &iteration();
  /// FLOPs of all devices in an iteration; none if one op has 2^63 FLOPs.
  struct AllWork {
    std::optional<__int128> ModelFlops;
    __int128 Tokens;
  };
  /// States the estimate and the work, of who has them.
  void setIteration(IterationTime Of, AllWork Work) {
    Iteration = std::move(Of);
    Done = Work;
  }
  ir::Expr inFlight(const ir::Stage &S) const;
  ir::Expr messages(const ir::Stage &S) const;
  ir::Expr bubble() const;
  std::optional<ir::Expr> fits();
  std::optional<ir::Expr> cached(std::optional<ir::ExprId> Of) const;
  std::optional<ir::Expr> crossNode() const;
  std::optional<ir::Expr> time();
  std::optional<ir::Expr> timeUpper();
  std::optional<ir::Expr> mfu();
  std::optional<ir::Expr> tokensPerSecond();
  std::optional<ir::Expr> exposed();

private:
  ir::Expr messagesOf(llvm::StringRef Group) const;
  bool hasTime();
  const AllWork &work();

  ir::ExprScope P;
  const Validity For;
  std::optional<StageMemories> Memories;
  std::optional<IterationTime> Iteration;
  std::optional<AllWork> Done;
};

} // namespace foretrace
