// SPDX-License-Identifier: Apache-2.0
//
// In builds with assertions: whether a pass reads only those keys of the spec
// that Passes.def says it reads, and, if jobs share what it makes
// (StructureCache.h), only those numbers by which `derive` decided something.
// What a pass reads is what its result can depend on. Private to the passes.
#pragma once

#include "passes/PassManager.h"

namespace foretrace {

#ifndef NDEBUG

/// Follows what \p Pass reads of the spec of \p P as long as it lives, and ends
/// the process if that is more than declared. One at a time in a thread.
class ReadCheck {
public:
  ReadCheck(const ir::Program &P, const PassInfo &Pass);
  ~ReadCheck();
  ReadCheck(const ReadCheck &) = delete;
  ReadCheck &operator=(const ReadCheck &) = delete;
};

#else

class ReadCheck {
public:
  ReadCheck(const ir::Program &, const PassInfo &) {}
};

#endif

} // namespace foretrace
