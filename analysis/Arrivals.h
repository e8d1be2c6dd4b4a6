// SPDX-License-Identifier: Apache-2.0
//
// When the requests of a job arrive: at random times of a Poisson process, the
// same on every machine.
#pragma once

#include "ir/model/Spec.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace foretrace {

/// A request that arrives.
struct Arrival {
  int64_t At;            ///< ns from the start
  int64_t Input, Output; ///< tokens
};

/// Returns how many requests arrive.
int64_t arrivalCount(const ir::RequestsSpec &Of);

/// Returns whether all of them arrive within 2^62 ns, far beyond chance.
bool canArrive(const ir::RequestsSpec &Of);

/// Visits the requests in order until \p Visit returns false. \p Of has a rate,
/// and canArrive() holds. Requests of a trace are taken in turn.
void forEachArrival(const ir::RequestsSpec &Of,
                    llvm::function_ref<bool(const Arrival &)> Visit);

} // namespace foretrace
