// SPDX-License-Identifier: Apache-2.0
//
// What would mend an error of `derive`: the nearest legal values of a key, or
// several keys that only help together. Every change that is offered was
// derived before, so that it is legal with the rest of the job.
// Private to the passes.
#pragma once

#include "ir/model/Spec.h"
#include "lang/Diagnostic.h"

namespace foretrace {

/// Adds notes to \p Errors, what `derive` had to say of \p Given; \p Derived is
/// as far as it came. A change is offered for an error if the job derived with
/// it lacks that error and has none that it lacked before. Errors are mended
/// one after another, each with the first offers for those before it, so that
/// the offers fit each other; an error that an earlier offer mends as well is
/// withdrawn from \p Diags. Tries a bounded number of changes, each in the time
/// that one derivation takes.
void noteRemedies(const ir::Spec &Given, const ir::Spec &Derived,
                  std::vector<DiagnosticBuilder> Errors,
                  DiagnosticEngine &Diags);

} // namespace foretrace
