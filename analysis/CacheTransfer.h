// SPDX-License-Identifier: Apache-2.0
//
// Caches of a request that move from the engine that prefills it to the one
// that decodes it: by overlaps of what a rank of each holds.
#pragma once

#include "ir/model/Measure.h"
#include "lang/NumberText.h"
#include <optional>
#include <vector>

namespace foretrace {

/// Returns the tokens of a prompt that an engine has in its cache; the last one
/// is always computed.
ir::Expr cachedTokens(ir::ExprScope P);

/// Bytes from a rank to a rank, which are positions along tp.
struct RankTransfer {
  int64_t From, To, Bytes;
  friend bool operator==(const RankTransfer &A, const RankTransfer &B) {
    return A.From == B.From && A.To == B.To && A.Bytes == B.Bytes;
  }
};

/// Transfers between the ranks of two stages. Those of all ranks are \c Times
/// times those of the first ones, each time so many ranks further.
struct StageTransfer {
  IndexRange From, To; ///< as many stages of each: the first to the first
  std::vector<RankTransfer> First; ///< by the receiver, then by the sender
  int64_t Times = 1, FromStep = 0, ToStep = 0;

  /// Returns whether \p Next is the same between the next stages.
  bool continuesIn(const StageTransfer &Next) const {
    return First == Next.First && Times == Next.Times &&
           From.last() + 1 == Next.From.First && To.last() + 1 == Next.To.First;
  }
};

/// What moves of one request between two attention replicas.
struct CacheTransfer {
  int64_t Tokens = 0; ///< of the prompt, that the receiver has not
  int64_t Bytes = 0;  ///< all that is sent
  std::vector<StageTransfer> Stages;
};

/// Most layers on ranks of tp, of both programs, whose transfers are counted.
constexpr int64_t MaxTransfers = int64_t(1) << 24;

/// Returns the transfer from \p From to \p To, programs of the same model with
/// all stages; nothing if their layers cache different values, if there are too
/// many, or if a size is beyond 2^63. A rank gets what it holds from
/// ranks that hold it, of several from the one that is nearest to its own place
/// (vLLM, kv_connector/v1/nixl/tp_mapping.py, compute_tp_mapping).
std::optional<CacheTransfer> cacheTransferOf(ir::ExprScope From,
                                             ir::ExprScope To);

} // namespace foretrace
