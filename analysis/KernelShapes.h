// SPDX-License-Identifier: Apache-2.0
//
// Shapes of the kernels and messages that a job runs, for measuring them.
#ifndef FORETRACE_ANALYSIS_KERNELSHAPES_H
#define FORETRACE_ANALYSIS_KERNELSHAPES_H

#include "ir/model/Program.h"

namespace foretrace {

/// Products of an m x k and a k x n matrix on one rank.
struct ProductShape {
  std::string Op;   ///< `layer/linear_fc1`; of several the first
  std::string Pass; ///< `forward`, `dgrad`, `wgrad`
  ir::ElementType Operand, Result;
  int64_t Groups; ///< products at once, of experts; else 1
  int64_t M, N, K;
  int64_t Count;    ///< in an iteration
  Nanoseconds Time; ///< of one
};

/// Attention of one rank; all channels of its heads.
struct AttentionShape {
  std::string Op, Pass;
  int64_t Batch, Queries, Keys;
  int64_t Heads; ///< 0 if its layer has no such key
  int64_t QueryChannels, KeyChannels, ContextChannels;
  int64_t Count;
  Nanoseconds Time;
};

/// A collective of the ranks of a group.
struct MessageShape {
  ir::OpKind Kind;
  std::string Group;
  int64_t Ranks;
  int64_t Size; ///< as NCCL tests count it (ir::messageBytes)
  int64_t Count;
  Nanoseconds Time;
};

/// Shapes of the rank that runs each most often.
struct KernelShapes {
  std::vector<ProductShape> Products;
  std::vector<AttentionShape> Attention;
  std::vector<MessageShape> Messages;
};

/// Returns the shapes of \p P, which has stages and a schedule; times are 0
/// without costs.
KernelShapes kernelShapesOf(const ir::Program &P);

} // namespace foretrace

#endif
