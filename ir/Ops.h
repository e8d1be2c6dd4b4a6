// SPDX-License-Identifier: Apache-2.0
//
// The kinds of operations, and what is true of each (ir/Ops.def).
#ifndef FORETRACE_IR_OPS_H
#define FORETRACE_IR_OPS_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace foretrace::ir {

enum class OpKind : unsigned char {
#define COMPUTE_OP(ENUMERATOR, ...) ENUMERATOR,
#define COLLECTIVE_OP(ENUMERATOR, ...) ENUMERATOR,
#include "ir/Ops.def"
};
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
};

/// A compute op of ir/Ops.def.
struct ComputeInfo {
  /// What a forward op takes and makes at least.
  unsigned char Operands = 0, Results = 0;
  LayoutRule Layouts = LayoutRule::AlongDim;
  OpTraits Traits = NoTraits;
};
/// Nothing in particular for a collective.
const ComputeInfo &getInfo(OpKind K);

inline bool isLinear(OpKind K) { return (getInfo(K).Traits & Linear) != 0; }
inline bool isOpaque(OpKind K) { return (getInfo(K).Traits & Opaque) != 0; }
inline bool isView(OpKind K) { return (getInfo(K).Traits & Looks) != 0; }

} // namespace foretrace::ir

#endif
