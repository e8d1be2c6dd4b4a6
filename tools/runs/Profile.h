// SPDX-License-Identifier: Apache-2.0
//
// Costs as a TOML file that a job can import.
#pragma once

#include "ir/model/Spec.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::runs {

/// As good as endless: what a link has whose messages take as long however
/// large they are.
inline constexpr int64_t EndlessBandwidth = 1'000'000'000'000'000;

/// The costs as a TOML file; \p Comment is its first line.
void writeProfile(const ir::CostSpec &C, llvm::StringRef Comment,
                  llvm::raw_ostream &OS);

} // namespace foretrace::runs
