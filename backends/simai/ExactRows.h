// SPDX-License-Identifier: Apache-2.0
//
// How the ops of a block become rows of a table: the legalisation from the IR
// to a format with one message per column.
#pragma once

#include "backends/simai/Words.h"
#include <vector>

namespace foretrace::simai {

/// A collective that a table has no word for.
struct Unsayable {
  const ir::Op *Collective;
  Bytes Message; ///< of one execution, on one rank
};

/// The rows of one execution of a block.
struct BlockRows {
  std::vector<WorkloadRow> Rows;
  std::vector<Unsayable> Missing;
};

/// Makes the rows of \p B. A row represents a forward op that communicates and
/// the ops around it that do not. Further messages of the same direction have
/// rows of their own, without time. Messages over dp are always in the third
/// column.
BlockRows rowsOf(const ir::Program &P, const ir::Block &B, const TableWords &W);

/// The rows of a step: one for each op, the last first, since the simulator
/// goes through the rows backwards.
BlockRows stepRowsOf(const ir::Program &P, const ir::Block &B,
                     const TableWords &W);

} // namespace foretrace::simai
