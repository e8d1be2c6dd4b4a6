// SPDX-License-Identifier: Apache-2.0
//
// An op as a subject. Private to tools/explain.
#ifndef FORETRACE_TOOLS_EXPLAIN_OPS_H
#define FORETRACE_TOOLS_EXPLAIN_OPS_H

#include "tools/explain/Figure.h"

namespace foretrace::explain {

/// The block of \p P that \p O, an op of it, is in.
const ir::Block &blockOf(const ir::Program &P, const ir::Op &O);

/// `layer/linear_qkv: matmul, forward`, without figures. \p O is an op of \p B,
/// or of some block of \p P.
Subject describeOp(const ir::Block &B, const ir::Op &O);
Subject describeOp(const ir::Program &P, const ir::Op &O);

} // namespace foretrace::explain

#endif
