// SPDX-License-Identifier: Apache-2.0
//
// Jobs in the terms of other tools: arguments or files that reproduce them.
#pragma once

#include "ir/model/Spec.h"
#include "lang/Diagnostic.h"
#include "lang/SourceFiles.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::exporters {

/// A format, whose page of the library (lang/export/NAME.fore) defines its
/// keys.
struct Exporter {
  llvm::StringLiteral Name;
  llvm::StringLiteral Makes; ///< "arguments of Megatron-LM"
  /// What it describes: a model alone, a job that trains or one that serves.
  enum { Model, Training, Serving } Of;
  bool isOfModel() const { return Of == Model; }
};

llvm::ArrayRef<Exporter> exporters();
/// Returns a line for each, with an example.
std::string exampleLines();
/// Returns null if there is none of this name.
const Exporter *findExporter(llvm::StringRef Name);

/// The text for the job \p S, of which everything is derived. What the format
/// cannot say is an error at its place in the job; nothing is returned then.
std::optional<std::string> exportJob(const Exporter &To, const ir::Spec &S,
                                     SourceFiles &Sources,
                                     DiagnosticEngine &Diags);

} // namespace foretrace::exporters
