// SPDX-License-Identifier: Apache-2.0
//
// Numbers as people read them.
#ifndef FORETRACE_LANG_NUMBERTEXT_H
#define FORETRACE_LANG_NUMBERTEXT_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace foretrace {

/// Four digits, in the largest unit of which there is at least one: `64 GiB`.
std::string printBytes(double Count);

/// MiB to one digit, without the unit: `57671.7`.
std::string printMebibytes(int64_t Bytes);

/// The \p Count numbers from \p First on: `1-6`, or `1` for a single one.
std::string printRange(int64_t First, int64_t Count, llvm::StringRef To = "-");

} // namespace foretrace

#endif
