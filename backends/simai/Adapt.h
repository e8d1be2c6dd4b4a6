// SPDX-License-Identifier: Apache-2.0
//
// `adapt { ... }`: the edits that people make by hand before packet-level
// simulation, stated once and recorded.
#pragma once

#include "backends/simai/Table.h"
#include "ir/model/Attribute.h"
#include "lang/Diagnostic.h"
#include <memory>

namespace foretrace::simai {

struct Adaptation; ///< the rules of an `adapt` section (AdaptRules.h)
using AdaptationPtr = std::shared_ptr<const Adaptation>;

/// Reads and checks an `adapt` section; null after an error.
AdaptationPtr readAdaptation(const ir::Attribute &Section,
                             DiagnosticEngine &Diags);
/// The number of ranks that \p A gives the header, if it does.
std::optional<int64_t> adaptedWorld(const Adaptation &A);
/// \p T as adapted, but for the numbers in names; nothing after an error, as a
/// size or a time that would not be an integer below 2^63.
std::optional<WorkloadTable>
adapted(const Adaptation &A, const WorkloadTable &T, DiagnosticEngine &Diags);
/// Writes \p T as adapted, row by row.
void writeAdapted(const Adaptation &A, const WorkloadTable &T,
                  llvm::raw_ostream &OS);
/// Writes what was changed as JSON.
void writeRecord(const Adaptation &A, const WorkloadTable &T,
                 llvm::raw_ostream &OS);

} // namespace foretrace::simai
