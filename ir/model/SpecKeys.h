// SPDX-License-Identifier: Apache-2.0
//
// The numbers of a spec as keys of expressions (ir/model/Expr.h): which key a
// field is, what it is called, and what it is worth.
#ifndef FORETRACE_IR_MODEL_SPECKEYS_H
#define FORETRACE_IR_MODEL_SPECKEYS_H

#include "ir/model/Expr.h"
#include "ir/model/Spec.h"
#include <string>

namespace foretrace::ir {

struct Program;

/// The key that \p Field is in \p S: a field of the model, of one of its
/// blocks, of `train`, or of `parallel`.
Key keyOf(const Spec &S, const Located<int64_t> &Field);

/// The field of \p S that \p K is; null for a symbol, and for a key that is no
/// number.
const Located<int64_t> *findField(const Spec &S, Key K);

/// The same, to be stated.
Located<int64_t> *findField(Spec &S, Key K);

/// The key of a number of a section, as -D calls it: `parallel.tp`; nothing for
/// one of a block.
std::optional<Key> findNumber(llvm::StringRef Path);

/// Calls \p Visit with every number that a key of \p S is.
void forEachNumber(
    const Spec &S,
    llvm::function_ref<void(Key, const Located<int64_t> &)> Visit);

/// Whether it is a count of a kind of stage.
bool isOfStage(KeyId Id);

/// `tp`; of a block, `moe.topk`.
std::string nameOf(const Spec &S, Key K);
/// Whether `elaborate` made block \p Block of \p P, so that numbers of stages
/// can have its name.
bool isModelBlock(const Program &P, unsigned Block);

/// The key of that name, if \p S has it.
std::optional<Key> findKey(const Spec &S, llvm::StringRef Name);

} // namespace foretrace::ir

#endif
