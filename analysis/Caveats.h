// SPDX-License-Identifier: Apache-2.0
//
// Caveats of an estimated time of an iteration (`cost estimate`): work that it
// leaves out, and jobs, devices or numbers of devices to which its parameters
// were not fitted. Each caveat is a warning and widens the range.
#pragma once

#include "analysis/IterationTime.h"
#include "lang/Diagnostic.h"

namespace foretrace {

/// Reports the caveats of the estimate of \p P, which has costs, as warnings.
void reportCaveats(const ir::Program &P, DiagnosticEngine &Diags);

/// Returns the half width of the interval in which nine of ten runs are
/// expected, relative: that of \p T, of \p P, and of all caveats, in
/// quadrature.
double halfRange(const ir::Program &P, const IterationTime &T);

/// Returns whether the optimizer runs on the host, whose time is not estimated.
bool isUpdatedByHost(const ir::Program &P);
/// Returns the bytes that cross the link between a rank and its host in an
/// iteration because the state of the optimizer is offloaded, or activations
/// are, of the rank with most; nothing if that overflows.
std::optional<int64_t> hostTraffic(const ir::Program &P);
/// Describes them: `16.5 GiB of a rank cross the link to the host ...`.
std::string describeHostTraffic(const ir::Program &P);

/// Returns whether the device of \p P borrows the profile of another one.
bool borrowsProfile(const ir::Program &P);
/// Reports an error if that is one of another vendor and the job does not ask
/// for it.
bool checkVendor(const ir::Program &P, DiagnosticEngine &Diags);

} // namespace foretrace
