// SPDX-License-Identifier: Apache-2.0
//
// What a message says in place of `{0}`: kept as what it is, so that a client
// reads a number as a number, and put into words only where it is shown.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace foretrace {

/// An integer, one that only unsigned ones hold, a decimal number, a truth, or
/// a text: words of the input, spellings, and all that is known by its printed
/// form alone.
using DiagnosticArgument =
    std::variant<int64_t, uint64_t, double, bool, std::string>;
using DiagnosticArguments = std::vector<DiagnosticArgument>;

void addInteger(DiagnosticArguments &To, int64_t Value);
void addUnsigned(DiagnosticArguments &To, uint64_t Value);
void addReal(DiagnosticArguments &To, double Value);
void addTruth(DiagnosticArguments &To, bool Value);
void addText(DiagnosticArguments &To, llvm::StringRef Value);

/// Appends several.
inline void addArgument(DiagnosticArguments &To,
                        const DiagnosticArguments &Values) {
  To.insert(To.end(), Values.begin(), Values.end());
}

/// Appends \p Value as what its type is.
template <typename T>
void addArgument(DiagnosticArguments &To, const T &Value) {
  if constexpr (std::is_same_v<T, bool>)
    addTruth(To, Value);
  else if constexpr (std::is_floating_point_v<T>)
    addReal(To, Value);
  else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, char>)
    std::is_signed_v<T> ? addInteger(To, static_cast<int64_t>(Value))
                        : addUnsigned(To, static_cast<uint64_t>(Value));
  else if constexpr (std::is_convertible_v<const T &, llvm::StringRef>)
    addText(To, Value);
  else
    addText(To, llvm::Twine(Value).str());
}

} // namespace foretrace
