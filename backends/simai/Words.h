// SPDX-License-Identifier: Apache-2.0
//
// The word of a table for a collective, if it has one. The simulator knows
// four process groups of one stage, which it makes from the header and its own
// number of ranks (SimAI: Layer::report, MockNcclGroup); a collective has a
// word if its ranks are those of one of them:
//
//   columns             suffix   ranks      distance of neighbours
//   forward, backward            tp         1
//                       _EP      ep         tp
//   third                        dp         tp          dp = world / (tp pp)
//                       _DP_EP   dp / ep    tp ep
#pragma once

#include "backends/simai/Table.h"
#include "ir/model/Program.h"
#include "ir/model/Ranks.h"
#include <array>

namespace foretrace::simai {

/// The first two columns, or the third.
enum class Direction : unsigned char { Model, Data };

struct TableWord {
  Direction Where;
  simai::Comm Comm;
  CellGroup Group;
};

/// The word for a kind of collective, whatever its group; nothing if there is
/// none.
std::optional<Comm> commOf(ir::OpKind K);

/// Returns the `ep` of a table. The simulator divides the data-parallel group
/// by it. Experts placed otherwise have none, and no word for their groups.
int64_t expertRanks(const ir::Mesh &M);

/// The words of the tables of one job.
class TableWords {
public:
  explicit TableWords(const ir::Program &P);

  /// Returns the word for \p Collective; nothing if its kind or group has none.
  std::optional<TableWord> find(const ir::Op &Collective) const;

private:
  /// A group as the simulator makes it.
  struct Known {
    Direction Where;
    CellGroup Group;
    int64_t Ranks, Spacing;
  };

  const ir::Mesh &Mesh;
  ir::RankMap Map;
  std::array<Known, 4> Groups;
};

} // namespace foretrace::simai
