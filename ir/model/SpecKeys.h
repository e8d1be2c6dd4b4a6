// SPDX-License-Identifier: Apache-2.0
//
// The numbers of a spec as keys of expressions (ir/model/Expr.h): the key of a
// field, its name, and its value.
#pragma once

#include "ir/model/Expr.h"
#include "ir/model/Spec.h"
#include <string>

namespace foretrace::ir {

struct Group;
struct Program;

/// Returns the key of \p Field in \p S: a field of the model, of one of its
/// blocks, of `train`, or of `parallel`.
Key keyOf(const Spec &S, const Located<int64_t> &Field);

/// Returns the field of \p S for \p K; null for a symbol, and for a key that is
/// not a number.
const Located<int64_t> *findField(const Spec &S, Key K);

/// Returns the field, to be set.
Located<int64_t> *findField(Spec &S, Key K);

/// Returns the key of a number of a section by its name for -D, such as
/// `parallel.tp`; nothing for a key of a block.
std::optional<Key> findNumber(llvm::StringRef Path);

/// Calls \p Visit with every number of \p S that is a key.
void forEachNumber(
    const Spec &S,
    llvm::function_ref<void(Key, const Located<int64_t> &)> Visit);

/// Returns whether the key is a count of a kind of stage.
bool isOfStage(KeyId Id);
/// Returns whether the key is a number of the place of a group on the cluster.
bool isOfPlace(KeyId Id);
/// Returns the key of such a number of \p G; numbers of copies of tokens are of
/// a block of the program, too.
Key keyOfPlace(KeyId Id, const Group &G, unsigned Block = 0);
/// Returns the group of such a key.
Group groupOfPlace(Key K);

/// Returns the name of a key: `tp`; for a block, `moe.topk`.
std::string nameOf(const Spec &S, Key K);
/// Returns whether `elaborate` created block \p Block of \p P, so that numbers
/// of stages can have its name.
bool isModelBlock(const Program &P, unsigned Block);

/// Returns the key of that name, if \p S has it.
std::optional<Key> findKey(const Spec &S, llvm::StringRef Name);

} // namespace foretrace::ir
