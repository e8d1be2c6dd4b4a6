// SPDX-License-Identifier: Apache-2.0
//
// Changes of a job with which its ranks have enough memory.
#ifndef FORETRACE_PASSES_VARY_FIT_H
#define FORETRACE_PASSES_VARY_FIT_H

#include "ir/model/Program.h"
#include "passes/vary/Moves.h"
#include <optional>
#include <vector>

namespace foretrace::vary {

/// Memory, FLOPs and messages of ranks; INT64_MAX if they overflow.
struct Load {
  std::vector<int64_t> Peaks; ///< of memory in bytes, by stage
  int64_t Work, Messages;     ///< in an iteration, of the rank with most
  int64_t Host;               ///< bytes of them over the link to the host

  int64_t peak() const;
};
/// Returns the load of a program with a schedule and totals.
Load loadOf(const ir::Program &P);

/// Compiles a job that states what it did with a change; nothing if that job is
/// refused.
using Trial = llvm::function_ref<std::optional<Load>(
    llvm::function_ref<void(ir::Spec &)> Change)>;

struct Proposal {
  KeyTexts Keys;
  Load Of; ///< of the job with these keys
};

/// The smallest change of each move of passes/vary/Moves.def with which no rank
/// has more than \p Room bytes, from the one that a run pays least for. If
/// there is none, pairs of changes, a bounded number of them. \p Derived is the
/// job that states \p Stated, with what follows, and \p Now its load.
std::vector<Proposal> changesThatFit(const ir::Spec &Stated,
                                     const ir::Spec &Derived, const Load &Now,
                                     int64_t Room, Trial Try);

} // namespace foretrace::vary

#endif
