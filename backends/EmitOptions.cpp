// SPDX-License-Identifier: Apache-2.0
#include "backends/EmitOptions.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Backends.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;

void foretrace::readEmitOptions(const ir::EmitSpec &Emit,
                                llvm::ArrayRef<EmitOption> Table, void *Into,
                                DiagnosticEngine &Diags) {
  std::vector<llvm::StringRef> Known;
  for (const EmitOption &Row : Table) {
    Known.push_back(Row.Name);
    const ir::NamedAttribute *A = Emit.Options.find(Row.Name);
    if (A && !Row.Read(A->Value, Into, Diags))
      reportOptionValue(*A, Row.Expected(), Diags);
  }
  for (const ir::NamedAttribute &Option : Emit.Options.Fields)
    if (!llvm::is_contained(Known, Option.Name))
      suggest(Diags.report(Option.NameRange, diag::UnknownEmitOption,
                           Option.Name, Emit.Backend, llvm::join(Known, ", ")),
              Option.NameRange, Option.Name, Known);
}

void foretrace::reportOptionValue(const ir::NamedAttribute &Option,
                                  llvm::StringRef Expected,
                                  DiagnosticEngine &Diags) {
  Diags.report(Option.Value.Range, diag::EmitOptionValue, Option.Name,
               Expected);
}
