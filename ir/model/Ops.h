// SPDX-License-Identifier: Apache-2.0
//
// Properties of the kinds of operations (ir/model/Ops.def); their names are in
// ir/model/OpKinds.h, so that a new kind recompiles who names one.
#ifndef FORETRACE_IR_MODEL_OPS_H
#define FORETRACE_IR_MODEL_OPS_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace foretrace::ir {

enum class OpKind : unsigned char; // ir/model/OpKinds.h
llvm::StringRef getMnemonic(OpKind K);
std::optional<OpKind> findOp(llvm::StringRef Mnemonic);
bool isCollective(OpKind K);

/// How the layouts of what a compute op takes and makes belong together.
enum class LayoutRule : unsigned char {
  /// On each axis all that have one dimension are split along it; what lacks it
  /// is whole, or a sum.
  AlongDim,
  /// What it takes may lie anyhow; what it makes lies as the first operand, by
  /// position of the dimensions.
  AsOperand,
  /// As AlongDim, but all tokens are there: what an expert makes of them is
  /// split over ep as its weights are, and not over etp.
  AlongExperts,
  /// Everything is at home: masks are of the residual stream.
  AtHome,
  /// Tokens of the residual stream lie anyhow, those of experts at home: the
  /// same ranks, counted the other way.
  Recount,
};

/// What is true of some compute ops.
enum OpTraits : unsigned char {
  NoTraits = 0,
  /// Terms of a sum make terms of the result.
  Linear = 1,
  /// It looks at its operand in another way and moves no data.
  Looks = 2,
  /// What it reads, writes and computes isn't known.
  Opaque = 4,
  /// What it makes of a token is of all tokens: with `cp_comm = a2a` each rank
  /// does some heads of all tokens, in place of all heads of some (Jacobs et
  /// al., arXiv 2309.14509).
  Attends = 8,
  /// A result that is a summand of another sum is reduced to the whole of it,
  /// and only the sum is split along the sequence (Megatron-LM,
  /// LanguageModelEmbedding.reduce_scatter_embeddings).
  SumsWhole = 16,
  /// Without sequence parallelism a result that is a sum over tp is left: each
  /// rank goes on with its own term. Megatron-LM does so with the gradient of
  /// the rotary key, which it sums only where it gathered that key
  /// (multi_latent_attention.py).
  LeavesTerms = 32,
  /// The result takes the place of the first operand in memory.
  InPlace = 64,
};

/// A compute op of ir/model/Ops.def.
struct ComputeInfo {
  /// What a forward op takes and makes at least.
  unsigned char Operands = 0, Results = 0;
  LayoutRule Layouts = LayoutRule::AlongDim;
  OpTraits Traits = NoTraits;
};
/// Nothing in particular for a collective.
const ComputeInfo &getInfo(OpKind K);

inline bool hasTrait(OpKind K, OpTraits T) {
  return (getInfo(K).Traits & T) != 0;
}
inline bool isLinear(OpKind K) { return hasTrait(K, Linear); }
inline bool isOpaque(OpKind K) { return hasTrait(K, Opaque); }
inline bool isView(OpKind K) { return hasTrait(K, Looks); }

} // namespace foretrace::ir

#endif
