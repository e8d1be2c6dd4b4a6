// SPDX-License-Identifier: Apache-2.0
//
// A partition, folded: a row for all chunks with the same layers of all stages
// like it. Sizes are of one rank.
#ifndef FORETRACE_BACKENDS_PLAN_ROWS_H
#define FORETRACE_BACKENDS_PLAN_ROWS_H

#include "analysis/Figures.h"

namespace foretrace::plan {

/// What part of a stage weighs.
struct Weight {
  Elements Parameters;
  Bytes ParameterBytes;
  Bytes Activations; ///< kept for backward, of one micro-batch
  Flops Work;        ///< of one micro-batch, forward and backward

  Weight &operator+=(const Weight &W);
  Weight operator*(int64_t Times) const;
  bool isOverflow() const {
    return Parameters.isOverflow() || ParameterBytes.isOverflow() ||
           Activations.isOverflow() || Work.isOverflow();
  }
};

/// Indices [First, First + Count).
struct Range {
  int64_t First, Count;
};

/// The same as expressions.
struct WeightExprs {
  ir::ElementExpr Parameters;
  ir::ByteExpr ParameterBytes, Activations;
  ir::FlopExpr Work;
};

/// A part of a whole in thousandths, rounded to the nearest. Both are
/// expressions of Rows::Sizes; sums over stages may exceed 64 bits.
struct Ratio {
  int64_t Permille = 0;
  ir::ExprId Part = {}, Whole = {};
};

struct Row {
  Range Stages, Chunks;
  const ir::LayerSequence *Layers;
  WeightExprs From; ///< of Rows::Sizes
  ir::ByteExpr SentFrom;
  Weight Of;  ///< one chunk
  Ratio Work; ///< of that of all stages
  Bytes Sent; ///< forward to the next chunk, of one micro-batch; as much back
};

/// The most that a rank has in memory at once.
struct Peak {
  int64_t Bytes = 0;
  std::string Stages; ///< `3`, or `1-6`
  MemoryPhase Phase = MemoryPhase::Forward;
};

/// What is shown of the memory of a stage.
inline constexpr FigureId MemoryColumns[] = {
    FigureId::Weights, FigureId::Gradients, FigureId::Optimizer,
    FigureId::Activations, FigureId::Peak};

struct Rows {
  ir::ExprTable Sizes;        ///< of the program, and of rows
  std::vector<Row> All;       ///< by stage, then by chunk
  std::vector<Weight> Blocks; ///< one layer of each block of the program
  /// What the largest stage is of the mean.
  Ratio ParameterImbalance, WorkImbalance;
  /// What the largest stage of an even split would be of the largest here, in
  /// thousandths; of jobs with a chunk a stage that have one.
  std::optional<int64_t> EvenParameters, EvenWork;
  /// Of a rank: by kind of stage of the program, by column.
  std::vector<std::array<int64_t, std::size(MemoryColumns)>> Memory;
  Peak Most;
  bool IsOverflow = false;
};

/// \p P has costs.
Rows makeRows(const ir::Program &P);

} // namespace foretrace::plan

#endif
