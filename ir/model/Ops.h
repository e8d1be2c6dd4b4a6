// SPDX-License-Identifier: Apache-2.0
//
// Properties of op kinds (ir/model/Ops.def). Their names are in
// ir/model/OpKinds.h, so that a new kind recompiles only files that name kinds.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace foretrace::ir {

enum class OpKind : unsigned char; // ir/model/OpKinds.h
llvm::StringRef getMnemonic(OpKind K);
std::optional<OpKind> findOp(llvm::StringRef Mnemonic);
bool isCollective(OpKind K);

/// The relation between the layouts of the operands and results of a compute
/// op.
enum class LayoutRule : unsigned char {
  /// On each axis, all values with one dimension are split along it. Values
  /// without it are replicated, or a partial sum.
  AlongDim,
  /// Operands may have any layout. Results have the layout of the first
  /// operand, by position of the dimensions.
  AsOperand,
  /// Like AlongDim, but with all tokens: results of an expert are split over ep
  /// like its weights, and not over etp.
  AlongExperts,
  /// All values have their home layout: masks belong to the residual stream.
  AtHome,
  /// The operand is gathered along its last dimension. Results have their home
  /// layout: each rank takes its part of them. The gradient of the operand is a
  /// partial sum.
  FromWhole,
  /// The operand and the result have the home layout of the result, by position
  /// of the dimensions, and so have their gradients.
  ByResult,
  /// Tokens of the residual stream may have any layout; those of experts have
  /// their home layout: the same ranks in the other arrangement.
  Recount,
};

/// Properties of some compute ops.
enum OpTraits : unsigned char {
  NoTraits = 0,
  /// Operands that are terms of a sum give terms of the result.
  Linear = 1,
  /// The op is a view of its operand and moves no data.
  Looks = 2,
  /// Its memory traffic and FLOPs are not known.
  Opaque = 4,
  /// Its result for a token depends on all tokens: with `cp_comm = a2a` each
  /// rank computes some heads of all tokens instead of all heads of some
  /// (Jacobs et al., arXiv 2309.14509).
  Attends = 8,
  /// A result that is a summand of another sum is fully reduced, and only the
  /// sum is split along the sequence (Megatron-LM,
  /// LanguageModelEmbedding.reduce_scatter_embeddings).
  SumsWhole = 16,
  /// Without sequence parallelism, a result that is a sum over tp is not
  /// reduced: each rank continues with its own term. Megatron-LM does so with
  /// the gradient of the rotary key, which it sums only where it gathered that
  /// key (multi_latent_attention.py).
  LeavesTerms = 32,
  /// The result overwrites the first operand in memory.
  InPlace = 64,
  /// Operands are converted from the last to the first: the choices of tokens,
  /// their probabilities, tokens (Megatron-LM, token_dispatcher.py,
  /// MoEAllGatherTokenDispatcher); gradients of probabilities, and of tokens
  /// (MoEAlltoAllTokenDispatcher, token_dispatch).
  LastFirst = 128,
};

constexpr OpTraits operator|(OpTraits A, OpTraits B) {
  return static_cast<OpTraits>(static_cast<unsigned>(A) |
                               static_cast<unsigned>(B));
}

/// Values that the backward op of a compute op reads, besides the gradients of
/// its results, to compute those of the operands that have one. Results after
/// the first exist only for it, so it reads them, too, if it reads any value.
/// The gradient of a parameter reads the first operand.
enum class BackwardRule : unsigned char {
  /// There is no backward op.
  Undefined,
  /// Nothing is done: the gradient of a result is that of each operand. That
  /// of a parameter is a sum of it.
  Passed,
  /// Nothing: the op is linear in all operands at once.
  Linear,
  /// Nothing is computed: each operand has its gradient from the result at its
  /// place; there may be more operands.
  Pairwise,
  /// The other operands, by which an operand is multiplied.
  Others,
  /// The operands that have gradients. Parameters get none.
  Own,
  /// All operands.
  All,
  /// There are no gradients of the operands.
  Stops,
  /// The loss has all of it.
  ByLoss,
  /// The softmax of the logits.
  Softmax,
};

/// The arithmetic of a compute op whose FLOPs count.
enum class WorkRule : unsigned char {
  None,
  /// A multiplication for each point of all dimensions.
  Product,
  /// Products of queries with keys, and of the scores with values. A layer may
  /// state the `pairs` of a query and a key in a sample; without it half of
  /// all, as a causal mask leaves them.
  Scores,
  /// FLOPs of each element of the first result, the `rate`, which a layer
  /// states; twice that backward.
  Stated,
  /// Rows of a table: nothing, or products with all of the table.
  Rows,
  /// Nothing; a layer may state the `limit` of tokens of a sequence that a
  /// cache holds.
  Kept,
  /// Nothing; a layer may state a `table`: layers of a stage share tensors of
  /// one type and with one such number.
  Held,
};

/// A compute op of ir/model/Ops.def.
struct ComputeInfo {
  /// Numbers of operands and results of a forward op.
  struct Range {
    unsigned char Least = 0, Most = 0;
    bool contains(size_t N) const { return Least <= N && N <= Most; }
  };
  Range Operands, Results;
  LayoutRule Layouts = LayoutRule::AlongDim;
  OpTraits Traits = NoTraits;
  BackwardRule Backward = BackwardRule::Undefined;
  WorkRule Work = WorkRule::None;
};
/// Returns default properties for a collective.
const ComputeInfo &getInfo(OpKind K);

/// Returns the name of the number that a layer states about an op's work; empty
/// if there is none.
llvm::StringRef getStatedName(OpKind K);

inline bool hasTrait(OpKind K, OpTraits T) {
  return (getInfo(K).Traits & T) != 0;
}
inline bool isLinear(OpKind K) { return hasTrait(K, Linear); }
inline bool isOpaque(OpKind K) { return hasTrait(K, Opaque); }
inline bool isView(OpKind K) { return hasTrait(K, Looks); }
/// Returns whether the op says what the cache of an engine holds.
inline bool isCache(OpKind K) { return getInfo(K).Work == WorkRule::Kept; }

} // namespace foretrace::ir
