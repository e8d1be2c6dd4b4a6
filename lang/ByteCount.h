// SPDX-License-Identifier: Apache-2.0
//
// Numbers of bytes as people read them.
#ifndef FORETRACE_LANG_BYTECOUNT_H
#define FORETRACE_LANG_BYTECOUNT_H

#include <string>

namespace foretrace {

/// Four digits, in the largest unit of which there is at least one: `64 GiB`.
std::string printBytes(double Count);

} // namespace foretrace

#endif
