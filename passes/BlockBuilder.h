// SPDX-License-Identifier: Apache-2.0
//
// Appends ops and values to a block; what all passes that make ops share.
#pragma once

#include "ir/model/Program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

namespace foretrace {

/// Builds the ops of one block in order. Value names are made unique. The
/// origin applies to every op built until it is changed.
class BlockBuilder {
public:
  BlockBuilder(ir::Block &B, const char *Pass);

  void setOrigin(SourceRange Range, llvm::StringRef Rule) {
    Current.Range = Range;
    Current.Rule = Rule;
  }
  void setOrigin(const ir::Origin &O) { Current = O; }

  /// Begins a module: ops that follow are in it, until it is left.
  ir::ModuleId enterModule(llvm::StringRef Name);
  /// Ends the innermost module.
  void leaveModule() { Module = B.Modules[Module].Parent; }

  ir::ValueId value(ir::ValueKind Kind, llvm::StringRef Name,
                    ir::TensorType Type);
  /// A copy of \p V under a fresh name `<its name>.<Suffix>`.
  ir::ValueId derived(ir::ValueId V, llvm::StringRef Suffix);
  ir::ValueId param(llvm::StringRef Name, ir::TensorType Type) {
    return value(ir::ValueKind::Param, Name, std::move(Type));
  }

  /// Appends a forward op and returns its id.
  ir::OpId op(ir::OpKind Kind, llvm::StringRef Name,
              llvm::ArrayRef<ir::ValueId> Operands,
              llvm::ArrayRef<ir::ValueId> Results);
  /// Appends a forward op with one result, named \p Result, of type \p Type.
  ir::ValueId compute(ir::OpKind Kind, llvm::StringRef Name,
                      llvm::ArrayRef<ir::ValueId> Operands,
                      llvm::StringRef Result, ir::TensorType Type);

  ir::Block &block() { return B; }

private:
  std::string uniqueName(llvm::StringRef Name);

  ir::Block &B;
  ir::Origin Current;
  ir::ModuleId Module;
  llvm::StringMap<unsigned> Names;
};

} // namespace foretrace
