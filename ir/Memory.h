// SPDX-License-Identifier: Apache-2.0
//
// What a block leaves in the memory of one rank.
#ifndef FORETRACE_IR_MEMORY_H
#define FORETRACE_IR_MEMORY_H

#include "ir/Parameters.h"

namespace foretrace::ir {

/// Values of the forward pass that backward, or computing again for it, reads;
/// of one micro-batch. A part of a tensor keeps the whole of it.
/// Korthikanti et al., arXiv 2205.05198, section 4.
Bytes keptBytes(const Block &B, const Mesh &M);

/// Of the optimizer's state for one parameter: two moments of Adam in fp32, and
/// the fp32 weight that the parameter is rounded from, if it is.
int64_t optimizerBytes(const TrainSpec &Train);

/// Parameters, gradients, and the optimizer's state. ZeRO 1 spreads the state,
/// 2 the gradients too, 3 all, over the ranks with the same parameters.
Bytes stateBytes(const Block &B, TiedHead At, const Program &P);

} // namespace foretrace::ir

#endif
