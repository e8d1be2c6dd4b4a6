// SPDX-License-Identifier: Apache-2.0
//
// What a job that doesn't say gets, and what it must say.
// Private to the frontend.
#pragma once

#include "ir/model/Spec.h"
#include "llvm/ADT/ArrayRef.h"

namespace foretrace {

/// Fills in every key that is absent and has a constant default. Defaults that
/// follow from other values are left to the `derive` pass.
void applyDefaults(ir::Spec &S);
/// Fills in such keys of a cluster, in a job or on its own.
void applyDefaults(ir::ClusterSpec &C);

/// Fills in the keys without a default that a job lacks as it is a model.
void applyModelDefaults(ir::Spec &S);
/// Leaves of a job what its model is, with as many tokens as a sample has: the
/// rows of a learned table of positions.
void reduceToModel(ir::Spec &S);

/// A key that has no default, and an example of what to write.
struct RequiredKey {
  llvm::StringRef Section, Name, Example;
};
llvm::ArrayRef<RequiredKey> getRequiredKeys();
/// Returns whether the key \p Name of \p Section is one of them.
bool isRequired(llvm::StringRef Section, llvm::StringRef Name);

} // namespace foretrace
