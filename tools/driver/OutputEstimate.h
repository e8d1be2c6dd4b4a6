// SPDX-License-Identifier: Apache-2.0
//
// How much an `emit` block will write, before it does.
#ifndef FORETRACE_TOOLS_DRIVER_OUTPUTESTIMATE_H
#define FORETRACE_TOOLS_DRIVER_OUTPUTESTIMATE_H

#include "backends/Backend.h"

namespace foretrace::driver {

/// A guess at the bytes of a block that costs nothing: so many ranks, all or
/// those that it chooses, steps and layers as there are, whether or not the
/// format tells them apart, as often as the block repeats them.
double guessBytes(const Backend &Format, const EmitRequest &Request);

/// An estimate of them: what the block writes of the same job with fewer
/// micro-batches and layers, once, of some of its files, carried on to all of
/// them. Exact but for the digits of numbers where files of ranks that are
/// alike are of one size. Nothing if the block refuses the smaller job.
std::optional<double> estimateBytes(const Backend &Format,
                                    const EmitRequest &Request);

} // namespace foretrace::driver

#endif
