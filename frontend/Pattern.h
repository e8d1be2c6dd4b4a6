// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of layer patterns, which stay folded: `24 * (dense + moe)` is one
// run of 24 periods, never 48 layers.
// Private to the frontend.
#pragma once

#include "frontend/Value.h"

namespace foretrace {

/// One layer of block \p Block.
PatternValue makePattern(unsigned Block, SourceRange Range);

/// \p Left, then \p Right.
PatternValue concatenate(PatternValue Left, const PatternValue &Right);

/// \p Count times \p P. Reports a count below 1, a total beyond 2^63 and a
/// nesting that can't be kept folded.
std::optional<PatternValue> repeat(int64_t Count, PatternValue P,
                                   SourceRange Range, DiagnosticEngine &Diags);

/// The layers of the blocks \p Blocks, in order. What repeats is folded.
PatternValue foldLayers(llvm::ArrayRef<unsigned> Blocks, SourceRange Range);

/// The layers of `"MEM*E"` at \p At, a block of \p M for each character, as in
/// Megatron-LM's --hybrid-layer-pattern. What repeats is folded. If `|` divides
/// them into stages, the layers of each are added to \p Stages; null where
/// they cannot be divided. None after errors.
PatternValue parsePattern(llvm::StringRef Pattern, const ir::ModelSpec &M,
                          SourceRange At, std::vector<int64_t> *Stages,
                          DiagnosticEngine &Diags);

/// Layers of \p P, or nothing beyond 2^63.
std::optional<int64_t> countLayers(const PatternValue &P);

} // namespace foretrace
