// SPDX-License-Identifier: Apache-2.0
//
// A trace of requests: `from` of `requests`.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace foretrace::ir {

/// A request of a trace. Its ids name the blocks of the prompt, each with all
/// that precedes it: prompts whose first ids are equal begin with the same
/// tokens.
struct TracedRequest {
  uint32_t Input = 0, Output = 0; ///< tokens
  std::vector<uint64_t> Ids;
};

/// Requests in order of arrival. As text it is `1024 100 0-1; 512 80 0`: the
/// tokens of prompt and output, then the ids, of which neighbours are a range.
struct RequestTrace {
  std::vector<TracedRequest> Requests;

  /// Reads the text; nothing if it is none.
  static std::optional<RequestTrace> parse(llvm::StringRef Text);
  std::string text() const;

  /// Returns the sum of the prompts, or of the outputs.
  int64_t tokens(uint32_t TracedRequest::*Of) const;
  /// Returns whether prompts have ids.
  bool hasIds() const;

  /// Tokens of a block with an id (kvcache-ai/Mooncake, FAST25-release).
  static constexpr int64_t BlockTokens = 512;
  /// Upper bound of the ids of all requests.
  static constexpr size_t MaxIds = size_t(1) << 25;
};

} // namespace foretrace::ir
