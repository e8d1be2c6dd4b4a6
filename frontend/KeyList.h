// SPDX-License-Identifier: Apache-2.0
//
// Every key of the language with what it can be, for lists and documentation.
#pragma once

#include "ir/model/Spec.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace foretrace {

/// A row of ir/model/Spec.def, or a key of the library's layers.
struct KeyEntry {
  std::string Section; ///< the keyword of the section that has it
  llvm::StringRef Name;
  std::string Values;  ///< its possible values
  std::string Default; ///< `required`, `derived`, a value, or empty
  std::string Doc;
};

/// Returns what a key of a layer is if a job does not set it: `required`,
/// `derived`, or a value.
std::string defaultOf(const ir::LayerKey &K);

/// All keys, in the order of the table; defaults are what \p Derived has that
/// its job didn't state.
std::vector<KeyEntry> listKeys(const ir::Spec &Derived);

} // namespace foretrace
