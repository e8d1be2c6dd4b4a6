// SPDX-License-Identifier: Apache-2.0
//
// What a diagnostic tells programs, as JSON. Private to the clients.
#pragma once

#include "lang/Diagnostic.h"
#include "llvm/Support/JSON.h"

namespace foretrace {

inline llvm::json::Value toJSON(const DiagnosticArgument &A) {
  if (const auto *Text = std::get_if<std::string>(&A))
    return llvm::json::fixUTF8(*Text);
  return std::visit([](const auto &Value) { return llvm::json::Value(Value); },
                    A);
}

inline llvm::json::Value toJSON(const DiagnosticProperty &P) {
  if (const auto *One = std::get_if<DiagnosticArgument>(&P.Value))
    return toJSON(*One);
  llvm::json::Array All;
  if (const auto *Numbers = std::get_if<std::vector<int64_t>>(&P.Value))
    for (const int64_t Number : *Numbers)
      All.push_back(Number);
  else
    for (const std::string &Text : std::get<std::vector<std::string>>(P.Value))
      All.push_back(llvm::json::fixUTF8(Text));
  return All;
}

} // namespace foretrace
