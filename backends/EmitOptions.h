// SPDX-License-Identifier: Apache-2.0
//
// What the options of every `emit` block have in common.
#ifndef FORETRACE_BACKENDS_EMITOPTIONS_H
#define FORETRACE_BACKENDS_EMITOPTIONS_H

#include "ir/Spec.h"
#include "lang/Diagnostic.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace foretrace {

/// Reports the options of \p Emit that are not in \p Known, the nearest name
/// with each.
void checkOptionNames(const ir::EmitSpec &Emit,
                      llvm::ArrayRef<llvm::StringRef> Known,
                      DiagnosticEngine &Diags);

/// Reports that the value of \p Option is not \p Expected.
void reportOptionValue(const ir::NamedAttribute &Option,
                       llvm::StringRef Expected, DiagnosticEngine &Diags);

/// The index of the word of \p Option among \p Words; reports any other value.
std::optional<size_t> readWord(const ir::NamedAttribute &Option,
                               llvm::ArrayRef<llvm::StringRef> Words,
                               DiagnosticEngine &Diags);

/// Reads the option `allow`: slugs of diagnostics, each of \p Allowable.
void readAllow(const ir::NamedAttribute &Option,
               llvm::ArrayRef<llvm::StringLiteral> Allowable,
               std::vector<std::string> &Allow, DiagnosticEngine &Diags);

/// An option, and what puts its value into the options of a backend.
template <typename OptionsT> struct EmitOption {
  llvm::StringLiteral Name;
  void (*Read)(const ir::NamedAttribute &, OptionsT &, DiagnosticEngine &);
};

/// Reads those of \p Rows that \p Emit has into \p Into; reports options that
/// are neither among them nor in \p Others, which are read elsewhere.
template <typename OptionsT>
void readEmitOptions(const ir::EmitSpec &Emit,
                     llvm::ArrayRef<EmitOption<OptionsT>> Rows,
                     std::vector<llvm::StringRef> Others, OptionsT &Into,
                     DiagnosticEngine &Diags) {
  std::vector<llvm::StringRef> Known = std::move(Others);
  for (const EmitOption<OptionsT> &Row : Rows) {
    Known.push_back(Row.Name);
    if (const ir::NamedAttribute *A = Emit.Options.find(Row.Name))
      Row.Read(*A, Into, Diags);
  }
  checkOptionNames(Emit, Known, Diags);
}

/// The option `file`, or \p Default; reports one that names no file.
std::string readFile(const ir::EmitSpec &Emit, llvm::StringRef Default,
                     DiagnosticEngine &Diags);

} // namespace foretrace

#endif
