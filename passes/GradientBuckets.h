// SPDX-License-Identifier: Apache-2.0
//
// How Megatron-LM cuts the gradients of a buffer into buckets
// (param_and_grad_buffer.py, _ParamAndGradBuffer; since core 0.18
// distrib_optimizer.py, _compute_per_buffer_param_layout). Private to `sync`.
#pragma once

#include "ir/model/Messages.h"
#include "ir/model/Program.h"
#include "llvm/ADT/ArrayRef.h"

namespace foretrace {

/// A parameter in its buffer: its elements, without and with padding.
struct BucketParam {
  int64_t Elements;
  int64_t Taken;
  int64_t Number; ///< among the parameters of its block
  size_t Use;     ///< the op that uses it first
  const ir::Value *Gradient;
  int64_t Layer = 0; ///< counted from the last of the repeated ones
};

/// Puts parameters into buckets, from the last one of the model to the first. A
/// bucket is closed when it has enough.
class BucketMaker {
public:
  /// Buckets of a chunk with \p Layers layers have \p Least elements, and end
  /// at multiples of \p Step.
  BucketMaker(int64_t Least, int64_t Step, int64_t Layers)
      : Least(Least), Step(Step), Layers(Layers) {}

  /// Takes in \p Count times \p Each layers with these parameters, the last one
  /// first. Buckets of many layers recur, so the time does not depend on \p
  /// Count.
  void add(llvm::ArrayRef<BucketParam> Params, int64_t Count, int64_t Each);
  ir::MessageList finish() &&;

private:
  void fill(const BucketParam &With, int64_t Layer);
  void close();
  void flush();

  const int64_t Least, Step;
  int64_t Layers;                          ///< that are left
  int64_t Filled = 0;                      ///< elements of the bucket at hand
  ir::BucketMessage Open{0, INT64_MAX, 0}; ///< the bucket at hand
  size_t FirstUse = 0;                     ///< of its first parameter
  std::vector<ir::BucketMessage> Closed;   ///< buckets that are not in List yet
  ir::MessageList List;
};

/// Puts the gradients of parameters of a layer into the order in which
/// Megatron-LM's modules register the parameters.
void sortByModule(const ir::Program &P, const ir::Block &B,
                  std::vector<const ir::Value *> &Gradients);

/// The least size of buckets of the first chunk of \p S, in elements; nothing
/// if each buffer is one message. Other chunks and stages have no buckets
/// (distributed_data_parallel.py, __init__; training.py, disable_bucketing).
std::optional<int64_t> bucketSizeOf(const ir::Program &P, const ir::Stage &S);

} // namespace foretrace
