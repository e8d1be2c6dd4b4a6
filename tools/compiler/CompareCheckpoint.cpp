// SPDX-License-Identifier: Apache-2.0
#include "tools/compiler/CompareCheckpoint.h"
#include "analysis/ModelParameters.h"
#include "lang/diagnostics/Import.h"
#include "tools/compiler/Compiler.h"
#include "tools/importers/Importers.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace {

void compareCheckpoint(importers::ImportedJob &Job,
                       importers::ImportRequest &Request) {
  std::string Text;
  raw_string_ostream OS(Text);
  Job.write(OS);
  const std::optional<importers::CheckpointIndex> Index =
      importers::readCheckpointIndex(Request.Words.front(), Job.Layers.size(),
                                     Request);
  if (!Index)
    return;
  Compiler Session;
  const ir::Program *P = Session.compileModel("imported.fore", Text).program();
  if (!P)
    return;
  ir::ExprOverlay Sizes(*P);
  const ir::Expr Model = modelParameters(Sizes).All;
  if (!Model.hasValue() || Model.value() == Index->Parameters)
    return;
  Request.Diags.report(
      Index->At, diag::ImportCheckpoint, Index->Parameters, Model.value(),
      Index->Others.empty()
          ? std::string()
          : "; it has weights outside of the model's layers: `" +
                join(Index->Others, "`, `") + "`");
}

} // namespace foretrace
