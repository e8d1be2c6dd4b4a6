// SPDX-License-Identifier: Apache-2.0
//
// What to change in a job whose devices have too little memory. Private to the
// backend.
#ifndef FORETRACE_BACKENDS_MEMORY_CHANGES_H
#define FORETRACE_BACKENDS_MEMORY_CHANGES_H

#include "backends/Backend.h"

namespace foretrace::memory {

/// The job with other values of some keys, derived anew. Of the rank that has,
/// does and sends most.
struct Change {
  std::string Keys; ///< `tp = 16`
  int64_t Peak, Work, Messages;
};

/// The smallest change of each kind with which no rank has more than \p Room
/// bytes; if no single one will do, together with `recompute = full`.
std::vector<Change> changesThatFit(const EmitRequest &Request, int64_t Room);

/// Of the job as it is.
Change measureJob(const ir::Program &P);

} // namespace foretrace::memory

#endif
