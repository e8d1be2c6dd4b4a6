// SPDX-License-Identifier: Apache-2.0
//
// The partition of a model into stages and chunks, folded, and how even it is.
// Sizes are those of one rank.
#pragma once

#include "analysis/Derivation.h"
#include "ir/model/Program.h"
#include "lang/NumberText.h"
#include <optional>
#include <vector>

namespace foretrace {

/// Weight of a layer, a chunk or a stage.
struct LayerWeight {
  Elements Parameters;
  Bytes ParameterBytes;
  Bytes Activations; ///< saved activations of one micro-batch
  Flops Work;        ///< of one micro-batch, forward and backward

  LayerWeight &operator+=(const LayerWeight &W);
  LayerWeight operator*(int64_t Times) const;
  bool isOverflow() const {
    return Parameters.isOverflow() || ParameterBytes.isOverflow() ||
           Activations.isOverflow() || Work.isOverflow();
  }
};

/// A LayerWeight as expressions.
struct LayerWeightExprs {
  ir::ElementExpr Parameters;
  ir::ByteExpr ParameterBytes, Activations;
  ir::FlopExpr Work;
};

/// A part of a whole in thousandths, rounded to the nearest. Both are
/// expressions of Partition::Sizes; sums over stages may exceed 64 bits.
struct Ratio {
  int64_t Permille = 0;
  ir::ExprId Part = {}, Whole = {};

  /// Derives the ratio of a part named \p Name; both are in \p Unit.
  DerivedFigure derive(const FigureMaker &Make, std::string What,
                       llvm::StringRef Name, llvm::StringRef Unit) const;
};

/// All chunks with the same layers, of stages with the same chunks.
struct PartitionRow {
  IndexRange Stages, Chunks;
  const ir::LayerSequence *Layers;
  LayerWeightExprs From; ///< of Partition::Sizes
  ir::ByteExpr SentFrom; ///< of Partition::Sizes
  LayerWeight Of;        ///< of one chunk
  Ratio Work;            ///< its share of the FLOPs of all stages
  Bytes Sent; ///< forward to the next chunk, of one micro-batch; as much back
};

/// A partition, which points into the program that it is of.
struct Partition {
  ir::ExprTable Sizes;             ///< of the program, and of rows
  std::vector<PartitionRow> Rows;  ///< by stage, then by chunk
  std::vector<LayerWeight> Blocks; ///< one layer of each block of the program
  /// The largest stage by the mean of all stages.
  Ratio ParameterImbalance, WorkImbalance;
  /// The largest stage of an even split by the largest stage of this one, in
  /// thousandths. Only jobs with one chunk a stage whose layers divide into the
  /// stages have an even split.
  std::optional<int64_t> EvenParameters, EvenWork;
  bool IsOverflow = false; ///< whether a stage exceeds 64 bits; no rest then
};

/// Returns the partition of \p P, which is totalled and must outlive it.
Partition partitionOf(const ir::Program &P);

} // namespace foretrace
