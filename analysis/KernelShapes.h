// SPDX-License-Identifier: Apache-2.0
//
// Shapes of the kernels and messages that a job runs, for measuring them.
#pragma once

#include "analysis/KernelLaws.h"
#include "ir/model/Program.h"

namespace foretrace {

/// Kernels of one shape.
template <typename ShapeT> struct ShapeRun {
  std::string Op;   ///< `layer/linear_fc1`; of several the first
  std::string Pass; ///< `forward`, `dgrad`, `wgrad`
  ShapeT Shape;
  int64_t Count;    ///< in an iteration
  Nanoseconds Time; ///< of the kernel alone; 0 without `cost estimate`
};

struct ProductRun : ShapeRun<ProductShape> {};
struct AttentionRun : ShapeRun<AttentionShape> {};
struct StreamRun : ShapeRun<StreamShape> {};

/// Collectives of the ranks of a group.
struct MessageRun {
  ir::OpKind Kind;
  std::string Group;
  int64_t Ranks;
  int64_t OnDomain; ///< ranks in a domain of the innermost tier; all without
                    ///< a cluster
  int64_t Size;     ///< as NCCL tests count it (ir::messageBytes)
  int64_t Count;
  Nanoseconds Time;
};

/// Shapes of the rank that runs each most often.
struct KernelShapes {
  std::vector<ProductRun> Products;
  std::vector<AttentionRun> Attention;
  std::vector<StreamRun> Streams; ///< all other kernels
  std::vector<MessageRun> Messages;
};

/// Returns the shapes of \p P, which has stages, a schedule, and optimizer
/// traffic.
KernelShapes kernelShapesOf(const ir::Program &P);

} // namespace foretrace
