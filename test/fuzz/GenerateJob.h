// SPDX-License-Identifier: Apache-2.0
//
// Jobs made by the grammar: most are legal, some have numbers at the edge of
// what a number can be. Sections, keys and options come from the tables of the
// compiler, so what is added there is generated, too.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>

namespace foretrace {

/// The job that the bytes of \p Choices decide on, one byte a decision: a
/// fuzzer that changes a byte changes one thing. Without bytes it is the
/// simplest.
std::string generateJob(llvm::ArrayRef<uint8_t> Choices);
/// The job of a number, always the same.
std::string generateJob(uint64_t Number);

} // namespace foretrace
