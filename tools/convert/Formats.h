// SPDX-License-Identifier: Apache-2.0
//
// What an imported program can be written as.
#pragma once

#include "ir/model/Spec.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace foretrace::convert {

/// Backends that one can be written with.
llvm::ArrayRef<llvm::StringRef> formatNames();

/// Returns the `emit` blocks for the backends \p Names, by default `chakra`,
/// with its option \p Ranks, and for their companions if there is a cluster. An
/// error names an unknown backend or option.
llvm::Expected<std::vector<ir::EmitSpec>>
emitsFor(std::vector<llvm::StringRef> Names, llvm::StringRef Ranks,
         bool HasCluster);

} // namespace foretrace::convert
