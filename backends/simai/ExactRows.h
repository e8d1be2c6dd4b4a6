// SPDX-License-Identifier: Apache-2.0
//
// How the ops of a block become rows of a table: the legalisation from the IR
// to a format with one message per column.
#ifndef FORETRACE_BACKENDS_SIMAI_EXACTROWS_H
#define FORETRACE_BACKENDS_SIMAI_EXACTROWS_H

#include "backends/simai/Table.h"
#include "ir/Program.h"
#include <vector>

namespace foretrace::simai {

/// Traffic that a table has no column for: its group is not tp, ep, dp or the
/// data-parallel group of experts.
struct Unsayable {
  const ir::Op *Collective;
  Bytes Message; ///< one execution on one rank
};

/// The rows of one block, once.
struct BlockRows {
  std::vector<Row> Rows;
  std::vector<Unsayable> LeftOut;
};

/// Makes the rows of \p B. A row stands for a forward op with communication
/// and the ops without that follow it; further messages of the same direction
/// get rows of their own, without time. Collectives over dp stand in the dp
/// column whenever they happen.
BlockRows rowsOf(const ir::Block &B, const ir::Mesh &M);

} // namespace foretrace::simai

#endif
