// SPDX-License-Identifier: Apache-2.0
//
// What tells texts from each other. Private to the sweep.
#pragma once

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include <string>

namespace foretrace::sweep {

/// The SHA-256 of \p Bytes, in hexadecimal digits.
inline std::string digestOf(llvm::StringRef Bytes) {
  llvm::SHA256 Hash;
  Hash.update(Bytes);
  return llvm::toHex(Hash.final(), /*LowerCase=*/true);
}

} // namespace foretrace::sweep
