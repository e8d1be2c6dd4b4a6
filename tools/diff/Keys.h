// SPDX-License-Identifier: Apache-2.0
//
// The keys of two jobs, held against each other.
#pragma once

#include "ir/model/Expr.h"
#include "ir/model/Spec.h"
#include <optional>
#include <string>
#include <vector>

namespace foretrace::diff {

/// How a key came to have its value.
using How = Located<int64_t>::Status;
llvm::StringRef getName(How H);

/// The value of a key of a job.
struct KeyValue {
  std::string Path; ///< as in -D: `parallel.tp`, `model.moe.experts`
  std::string Text;
  How Is = How::Stated;
  SourceRange Range;              ///< where it is stated; else invalid
  std::optional<ir::Key> Id = {}; ///< if expressions of sizes can have it
};

/// The keys of \p S that have a value, in the order of ir/model/Spec.def; also
/// the layers of the model, the layout of the pipeline and the steps of a
/// schedule file. Not those that say what is written of a job: its `emit`
/// blocks.
std::vector<KeyValue> keysOf(const ir::Spec &S);

/// A key that is not the same in two jobs.
struct KeyChange {
  std::optional<KeyValue> Before, After; ///< at least one is set

  const std::string &path() const { return (Before ? Before : After)->Path; }
  /// Returns whether the job states it, so that it is not just derived.
  bool isCause() const;
};

/// Returns the keys with different values, however they are written and whether
/// they are set or derived. Keys that are set come first. Unless \p AreDerived,
/// a key of only one side counts only if it is set.
std::vector<KeyChange> compareKeys(const ir::Spec &Before,
                                   const ir::Spec &After, bool AreDerived);

} // namespace foretrace::diff
