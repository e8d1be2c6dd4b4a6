// SPDX-License-Identifier: Apache-2.0
//
// The ops that the backward pass recomputes.
#pragma once

#include "ir/model/Program.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace foretrace {

/// Returns the modules that `recompute = selective` can name: those of the
/// library's layers and of the job's, each once.
llvm::SmallVector<llvm::StringRef, 8> recomputeModules(const ir::Spec &S);
/// Returns the modules in \p T, separated by blanks or commas; by default core
/// attention only.
llvm::SmallVector<llvm::StringRef, 4> modulesOf(const ir::TrainSpec &T);

/// Recomputed ops of a block, as set in the block or the job; none in the
/// embedding and the head.
class Recomputation {
public:
  /// Forward ops that run again together: those of a module, or all, or with
  /// `recompute = op` all whose results are not saved.
  struct Part {
    ir::ModuleId Module; ///< invalid for the whole layer
    ir::ValueId Until;   ///< as in ir::Module

    /// Returns whether ops outside do not read the recomputed result.
    bool savesResult() const { return !Until.isValid(); }
  };

  /// \p B has its forward ops, with layouts or without.
  Recomputation(const ir::Program &P, const ir::Block &B);

  /// Returns whether the block or the job asks for recomputation in this block,
  /// which may have none of the modules.
  bool isWanted() const { return IsWanted; }
  /// In the order in which they run if they begin at the same op.
  llvm::ArrayRef<Part> parts() const { return Parts; }
  /// Returns the part that contains the forward op \p O, which is no
  /// collective, or null.
  const Part *findPart(const ir::Op &O) const;
  /// Returns the part that contains a forward collective of \p Served, or null.
  const Part *findPart(ir::OpKind Collective, const ir::Op &Served) const;

private:
  void addUnsaved(ir::TypeKind Compute);

  const ir::Block &B;
  bool IsWanted = false;
  bool IsByOp = false;
  llvm::StringSet<> Saved; ///< names of ops whose results are, if by op
  std::vector<Part> Parts;
  /// Modules of norms that are part of another op, by name.
  llvm::StringMap<ir::ModuleId> ModuleOf;
};

} // namespace foretrace
