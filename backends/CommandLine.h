// SPDX-License-Identifier: Apache-2.0
//
// What command lines and run scripts of simulators have in common.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <string>

namespace foretrace {

/// \p Text as one word of a POSIX shell, in single quotes.
std::string shellQuoted(llvm::StringRef Text);

/// A rate of \p BytesPerSecond in GiB/s, of seven digits: what ASTRA-sim's
/// networks and SimAI call GB/s.
std::string gibibytes(double BytesPerSecond);

/// \p Value / 10^\p Digits as an exact decimal fraction; \p Value is not
/// negative.
std::string decimalFraction(int64_t Value, unsigned Digits);

} // namespace foretrace
