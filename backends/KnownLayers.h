// SPDX-License-Identifier: Apache-2.0
//
// Layers of the library by name: for backends that imitate one tool, which has
// some kinds of layers and no others.
#pragma once

#include "ir/model/Spec.h"
#include "lang/Diagnostic.h"

namespace foretrace {

/// Returns whether all layers of \p S are attention, dense networks or experts
/// of the library in the job's type: those that \p Who, the tool that a backend
/// imitates, supports. Reports others.
bool checkKinds(const ir::Spec &S, llvm::StringRef Who,
                DiagnosticEngine &Diags);

/// Returns whether a block has multi-head latent attention.
bool hasLatentAttention(const ir::BlockSpec &B);
/// Returns whether a block has experts.
bool hasExperts(const ir::BlockSpec &B);
/// Returns whether the first projection of its network, or of each expert, is
/// twice as wide (gate and up).
bool isGated(const ir::BlockSpec &B);

} // namespace foretrace
