// SPDX-License-Identifier: Apache-2.0
//
// What a file holds, by its content: names of files are nobody's standard.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace foretrace::validate {

enum class Format : unsigned char {
  Unknown,
  Table,
  Chakra,
  Goal,
  Trace,
  ServingSim,
  Requests
};

/// Returns the format of \p Text, the content of a file, even if it is damaged.
Format recognize(llvm::StringRef Text);

} // namespace foretrace::validate
