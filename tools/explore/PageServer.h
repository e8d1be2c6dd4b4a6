// SPDX-License-Identifier: Apache-2.0
//
// The server of `foretrace explore`, on the loopback interface alone. One
// thread answers one request after the other, in a few milliseconds each; a
// second one makes the answers that take longer.
#pragma once

#include "tools/explore/Endpoints.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace foretrace::explore {

/// Serves \p Pages on \p Port of 127.0.0.1, or on a free one if that is 0,
/// until the process receives SIGINT or SIGTERM. Calls \p Started with the
/// address of the page, which contains the token. An error if the port is in
/// use.
llvm::Error serve(Endpoints &Pages, uint16_t Port,
                  llvm::function_ref<void(llvm::StringRef)> Started);

} // namespace foretrace::explore
