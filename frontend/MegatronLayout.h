// SPDX-License-Identifier: Apache-2.0
//
// Pipeline layouts as Megatron-LM writes them: `Et*2|(tt|)*5t|tmL`. Never
// accepted; a message says what they are here. Private to the frontend.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace foretrace {

struct MegatronLayout {
  std::vector<int64_t> Layers; ///< of each chunk
  bool HasMtp = false;         ///< layers that predict further tokens
  /// Whether the embedding is in the first chunk and the loss, with layers that
  /// predict further tokens, in the last one.
  bool AreEndsInPlace = true;

  /// Returns the layout as a list of the language: `[2] + 5 * [2] + [1]`.
  std::string asList() const;
};

/// Reads a value of `--pipeline-model-parallel-layout`; nothing if it is none,
/// or has more than 4096 chunks.
std::optional<MegatronLayout> readMegatronLayout(llvm::StringRef Text);

} // namespace foretrace
