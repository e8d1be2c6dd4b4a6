// SPDX-License-Identifier: Apache-2.0
//
// The options of `emit` blocks. Each backend has a table of its own,
// backends/NAME/Options.def, and a struct they are read into; messages, the
// documentation, lists and completion are made of the table.
//
//   EMIT_OPTION(Member, Kind, "name", "default", "meaning")
//
// Member of the backend's struct `Options`; Kind is one of OptionKinds.h, or
// the backend's own. "default" says what the member's initial value stands for,
// and is empty if that can be shown.
#pragma once

#include "ir/model/Spec.h"
#include "lang/Diagnostic.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace foretrace {

/// A row of an Options.def.
struct EmitOption {
  llvm::StringLiteral Name;
  llvm::StringLiteral Doc;
  bool IsPath; ///< it is the path of output files
  /// The expected values, as printed in diagnostics.
  std::string (*Expected)();
  /// The words that it can be.
  llvm::ArrayRef<llvm::StringRef> (*Words)();
  /// The default, as printed in tables.
  std::string (*Default)();
  /// Puts a value into the struct at \p Into. Returns false if it has the wrong
  /// type; reports other errors.
  bool (*Read)(const ir::Attribute &, void *Into, DiagnosticEngine &);
};

/// A row of an Options.def as an EmitOption, where `Options` is the struct.
#define EMIT_OPTION(MEMBER, KIND, NAME, DEFAULT, DOC)                          \
  {NAME,                                                                       \
   DOC,                                                                        \
   KIND::IsPath,                                                               \
   KIND::expected,                                                             \
   KIND::words,                                                                \
   [] {                                                                        \
     return *DEFAULT ? std::string(DEFAULT) : KIND::show(Options().MEMBER);    \
   },                                                                          \
   [](const ir::Attribute &Value, void *Into, DiagnosticEngine &Diags) {       \
     return KIND::read(Value, static_cast<Options *>(Into)->MEMBER, Diags);    \
   }},

/// Reads the options of \p Emit into the struct at \p Into, which \p Table is
/// of; reports every one that is unknown, the nearest name with it, or of a
/// wrong value.
void readEmitOptions(const ir::EmitSpec &Emit, llvm::ArrayRef<EmitOption> Table,
                     void *Into, DiagnosticEngine &Diags);

template <typename OptionsT>
OptionsT readEmitOptions(const ir::EmitSpec &Emit,
                         llvm::ArrayRef<EmitOption> Table,
                         DiagnosticEngine &Diags) {
  OptionsT Read;
  readEmitOptions(Emit, Table, &Read, Diags);
  return Read;
}

/// Reports that the value of \p Option is not \p Expected.
void reportOptionValue(const ir::NamedAttribute &Option,
                       llvm::StringRef Expected, DiagnosticEngine &Diags);

} // namespace foretrace
