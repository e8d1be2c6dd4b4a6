// SPDX-License-Identifier: Apache-2.0
//
// What a file holds, by its content: names of files are nobody's standard.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace foretrace::validate {

enum class Format : unsigned char { Unknown, Table, Chakra, Goal, Trace };

/// The format of \p Text, the content of a file; one that is damaged is still
/// taken for what it was.
Format recognize(llvm::StringRef Text);

} // namespace foretrace::validate
