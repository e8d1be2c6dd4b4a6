// SPDX-License-Identifier: Apache-2.0
//
// Lines of CSV. Private to this folder.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <vector>

namespace foretrace::fit {

/// Returns the fields of a line, without blanks and quotes around them; none of
/// those that are read has a quote in it.
std::vector<llvm::StringRef> splitFields(llvm::StringRef Line);

} // namespace foretrace::fit
