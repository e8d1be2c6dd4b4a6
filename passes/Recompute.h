// SPDX-License-Identifier: Apache-2.0
//
// What the backward pass computes again. Private to the passes.
#ifndef FORETRACE_PASSES_RECOMPUTE_H
#define FORETRACE_PASSES_RECOMPUTE_H

#include "ir/model/Program.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/GlobPattern.h"

namespace foretrace {

/// The modules that `recompute = selective` can name.
llvm::ArrayRef<llvm::StringRef> recomputeModules();
/// Returns whether the forward op called \p Op is part of \p Module.
bool isOfModule(llvm::StringRef Module, llvm::StringRef Op);
/// Returns the modules in \p T, separated by blanks or commas; by default core
/// attention only.
llvm::SmallVector<llvm::StringRef, 4> modulesOf(const ir::TrainSpec &T);

/// Recomputed ops of a block, as set in the block or the job; none in the
/// embedding and the head.
class Recomputation {
public:
  /// Forward ops that run again together.
  struct Part {
    llvm::GlobPattern Ops;
    /// Forward ops; the backward op of any of them is preceded by the part.
    llvm::GlobPattern Before;
    bool KeepsResult; ///< so that ops outside do not read the new one
  };

  /// \p B has its forward ops, with layouts or without.
  Recomputation(const ir::Program &P, const ir::Block &B);

  /// In the order in which they run if they begin at the same op.
  llvm::ArrayRef<Part> parts() const { return Parts; }
  /// The part that forward op \p O is of, or null.
  const Part *findPart(const ir::Op &O) const;

private:
  std::vector<Part> Parts;
  llvm::StringMap<std::string> ModuleOf; ///< of norms that are part of another
};

} // namespace foretrace

#endif
