// SPDX-License-Identifier: Apache-2.0
//
// What there is, a line each, from the tables and from the library.
#pragma once

#include "lang/RowWriter.h"

namespace foretrace::driver {

/// What can be listed: `passes`, `backends`, ...
llvm::ArrayRef<llvm::StringRef> listingNames();

/// Returns what is wrong with asking for the list \p Name, and for all that it
/// summarizes if \p IsAll; empty if nothing is.
std::string mistakeInList(llvm::StringRef Name, bool IsAll);

/// Prints the list \p Name, which is one of these, or all that it summarizes.
/// For people, numbers are rounded unless they shall be exact.
void list(llvm::StringRef Name, RowFormat As, bool IsExact, bool IsAll,
          llvm::raw_ostream &OS);

} // namespace foretrace::driver
