// SPDX-License-Identifier: Apache-2.0
//
// What `sync` sums of a stage's gradients, and over whom. Gradients of one
// group and chunk travel in one buffer, as in Megatron-LM's
// DistributedDataParallel.
#pragma once

#include "analysis/Parameters.h"
#include "ir/model/Program.h"
#include "passes/FsdpBuffer.h"
#include "passes/GradientBuckets.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace foretrace {

/// Gradients, or counts, that are summed over the same group; with ZeRO 1 also
/// what fills up the buffer.
struct GradientBuffer {
  ir::Group Group;
  ir::Expr Count; ///< elements, of one rank
  /// Groups over which the result is summed next, one after the other.
  llvm::ArrayRef<ir::Group> Copies = {};
  ir::MessageList Messages = {}; ///< in which it travels, if not in one

  bool empty() const { return Count.isConstant(0); }
};

/// Part of one buffer that replicas reduce and gather at once.
struct GradientBucket {
  llvm::StringRef Name; ///< "dense" or "expert": whose group it is
  GradientBuffer All;
  /// Gradients of weights that are gathered, or else stored, in a type with
  /// scales, and all other gradients. They are reduced together.
  GradientBuffer Scaled, Plain;
  /// The chunk of its gradients, if there are several.
  std::optional<int64_t> Chunk = std::nullopt;
};

/// Returns the messages in which a buffer with weights of two types is reduced:
/// the others go with the last ones of those with scales (Megatron-LM,
/// param_and_grad_buffer.py, partition_buckets).
ir::MessageList joined(const GradientBucket &B);

/// Returns how often replicas of \p S sum gradients, and gather parameters.
int64_t sumsOf(const ir::Program &P, const ir::Stage &S);
int64_t gathersOf(const ir::Program &P);

/// Returns whether Megatron-FSDP has the gradients of \p P in buffers of whole
/// rows, whose layout is no expression.
bool hasFsdpBuffers(const ir::Program &P);

/// Returns whether ranks gather the shares of parameters that they update.
bool gathersUpdated(const ir::Program &P);

/// The buffers of one stage after the other. Takes in sizes of the program.
class GradientBuffers {
public:
  explicit GradientBuffers(ir::Program &P);
  GradientBuffers(const GradientBuffers &) = delete;
  GradientBuffers &operator=(const GradientBuffers &) = delete;

  /// Makes the buffers those of \p S.
  void collect(const ir::Stage &S);

  /// Summed over replicas: chunk by chunk, as Megatron-LM has a
  /// DistributedDataParallel for each. None is empty.
  llvm::SmallVector<GradientBucket, 2> Buckets;
  GradientBuffer Replicated; ///< summed over tp, too (sequence parallel)
  GradientBuffer Tied;       ///< the word embedding that two stages hold
  GradientBuffer Shared;     ///< weights that all stages hold
  GradientBuffer ExpertBias; ///< tokens that every expert got

  /// An empty buffer that is summed along \p Axes, and over the copies of the
  /// model.
  GradientBuffer overCopies(ir::AxisList Axes) const;
  /// An empty buffer that is summed along \p Axes over all replicas at once,
  /// and over the copies of the model in one replica.
  GradientBuffer overReplicas(ir::AxisList Axes) const;
  /// The two copies of the model that a bidirectional schedule keeps.
  llvm::ArrayRef<ir::Group> twins() const;
  /// Returns the padding; with ZeRO 1 zero if no bucket needs it at any cut:
  /// then the sizes of buffers do not depend on it.
  ir::Expr rests() const;

private:
  /// Elements of gradients of one layer on one rank, and of router biases.
  /// Those of weights in a type with scales, and of a table that two stages
  /// hold, are in a part of the buffer of their own.
  struct LayerCounts {
    ir::ExprId Dense, Expert, DenseScaled, ExpertScaled, Table, Replicated,
        Shared, ExpertBias;
  };

  ir::AxisList used(ir::AxisList Axes) const;
  const LayerCounts &countsOf(unsigned Index, ir::TiedHead At);
  void collectTied(const ir::Stage &S, ir::TiedHead At);
  using Layers = llvm::SmallVector<std::pair<unsigned, ir::Expr>, 4>;
  /// The layers of a chunk, and the least size of its buckets.
  struct Chunk {
    Layers ByBlock;
    const ir::LayerSequence *Sequence;
    bool IsTableFirst;
    std::optional<int64_t> BucketSize = std::nullopt;
  };
  void addBuckets(const Chunk &C, ir::TiedHead At);
  /// The part of a buffer that the gradient of \p B is in.
  ir::ExprId LayerCounts::*partOf(const ir::Block &B,
                                  const ir::Value &Gradient) const;
  std::vector<const ir::Value *> gradientsOf(const ir::Block &B,
                                             ir::TiedHead At) const;
  using Parts = llvm::ArrayRef<ir::ExprId LayerCounts::*>;
  llvm::SmallVector<BucketParam, 32> paramsOf(const ir::Block &B, Parts Of,
                                              ir::TiedHead At) const;
  void cut(GradientBuffer &B, Parts Of, const Chunk &C, ir::TiedHead At) const;
  static bool isOfExperts(Parts Of) {
    return Of.front() == &LayerCounts::Expert ||
           Of.front() == &LayerCounts::ExpertScaled;
  }
  ir::Expr step(const GradientBuffer &B) const;
  ir::Expr elementsOf(const ir::Value &Gradient) const;
  bool hasAligned() const;
  void fill(GradientBuffer &B, Parts Of, const Chunk &C, ir::TiedHead At) const;
  bool isSummedOverTp(const ir::Value &Param, const ir::Value &Gradient) const;
  std::optional<FsdpBuffer::Layout> layoutOf(const ir::LayerSequence &Layers,
                                             Parts Of, const ir::Group &Over,
                                             ir::TiedHead At) const;
  std::optional<int64_t> replicatedOfFirst(const ir::Stage &S,
                                           ir::TiedHead At) const;

  ir::Program &P;
  const ir::Expr None;
  /// Ranks that hold the same parts of the model, and share none of them.
  llvm::SmallVector<ir::Group, 2> Copies;
  bool HasReplicas = false; ///< Copies begins with those of `dp_shard`
  llvm::DenseMap<unsigned, LayerCounts> Known; ///< by block
};

} // namespace foretrace
