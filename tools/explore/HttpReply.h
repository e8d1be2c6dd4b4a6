// SPDX-License-Identifier: Apache-2.0
//
// The answer to a request.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/JSON.h"
#include <atomic>
#include <functional>
#include <memory>
#include <string>

namespace foretrace::explore {

struct HttpReply {
  int Code = 0;
  llvm::StringLiteral Type = "";
  std::string Body = {};
};

/// Set when no client waits for the reply any longer.
using CancelFlag = std::shared_ptr<std::atomic<bool>>;

/// A reply that takes long to make: on any thread, with nothing of others.
struct SlowReply {
  CancelFlag IsCancelled;
  std::function<HttpReply()> Make;
};

/// Returns an object, whose attributes \p Write writes.
HttpReply reply(llvm::function_ref<void(llvm::json::OStream &)> Write);
/// Returns an object with an `error`.
HttpReply refuse(int Code, const llvm::Twine &Why);

} // namespace foretrace::explore
