// SPDX-License-Identifier: Apache-2.0
//
// Which spellings of a path mean one folder.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <string>

namespace foretrace {

/// The same text for all paths of the folder \p Path, through links, `.` and
/// `..`, whether or not it is there yet. Empty is where we stand.
std::string identityOf(llvm::StringRef Path);

} // namespace foretrace
