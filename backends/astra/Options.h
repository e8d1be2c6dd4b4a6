// SPDX-License-Identifier: Apache-2.0
//
// The options of `emit astra-sim { ... }`.
#pragma once

#include "backends/ranks/RankFiles.h"
#include "ir/model/OpKinds.h"
#include <array>

namespace foretrace::astra {

/// Selects one of ASTRA-sim's two analytical networks.
enum class NetworkKind : unsigned char {
  Unaware, ///< of congestion; a dimension for each tier
  Aware,   ///< messages on a link share it; a single dimension
};

enum class CollectiveImplementation : unsigned char {
#define ASTRA_ALGORITHM(ENUMERATOR, ...) ENUMERATOR,
#include "backends/astra/Algorithms.def"
};

/// A row of Algorithms.def.
struct CollectiveRow {
  ir::OpKind Kind;
  llvm::StringLiteral Option, Key;
  size_t Algorithms; ///< that ASTRA-sim has for it, from the first on
};
constexpr CollectiveRow Collectives[] = {
#define ASTRA_COLLECTIVE(KIND, OPTION, KEY, ALGORITHMS)                        \
  {ir::OpKind::KIND, OPTION, KEY, ALGORITHMS},
#include "backends/astra/Algorithms.def"
};

struct Options {
  FileNames Files;
  NetworkKind Network = NetworkKind::Unaware;
  /// Algorithm by row of Collectives, for all dimensions; absent: by topology.
  std::array<Located<CollectiveImplementation>, std::size(Collectives)> Chosen;
  std::optional<bool> HasRoofline; ///< none: if the job has no times
  /// Parts of a collective, run one after the other: each adds the latency of
  /// all rounds. Only collectives of all ranks gain, as their parts use
  /// different dimensions.
  int64_t Splits = 1;
  int64_t EndpointDelay = 10; ///< ns; ASTRA-sim's own default

  /// Returns the choice for a kind that is one of Collectives.
  Located<CollectiveImplementation> &chosen(ir::OpKind Of);
};

/// Returns the name of \p A in the system file.
llvm::StringRef getName(CollectiveImplementation A);
/// Returns whether \p A takes 2, 4, 8 ... ranks only.
bool needsPowerOfTwo(CollectiveImplementation A);

} // namespace foretrace::astra
