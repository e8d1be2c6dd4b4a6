// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a workload table, as a GOAL schedule, and as a trace of
// LLMServingSim, whatever they are taken for. A table that can be read can be
// converted, or there is a diagnostic.
#include "ir/verify/Verify.h"
#include "lang/SourceFiles.h"
#include "test/fuzz/Compile.h"
#include "tools/convert/Formats.h"
#include "tools/convert/TableImport.h"
#include "tools/validate/Format.h"
#include "tools/validate/GoalCheck.h"
#include "tools/validate/ServingSimCheck.h"
#include "tools/validate/SimaiCheck.h"
#include <cstdlib>

using namespace foretrace;

static void check(llvm::StringRef Text) {
  validate::Findings OfTrace;
  (void)validate::checkServingSim(Text, "file", OfTrace);
  for (auto *Check : {validate::checkTable, validate::checkGoal}) {
    validate::Findings Out;
    if (Check(Text, "file", /*IsExact=*/true, Out).empty())
      std::abort();
    Out.show(*makeTextClient(llvm::nulls()));
    Out.show(*makeJSONClient(llvm::nulls()));
  }
}

static void convertTable(llvm::StringRef Text) {
  SourceFiles Sources;
  validate::Findings Found;
  DiagnosticEngine Diags;
  std::optional<ir::Program> P = convert::importTable(
      Sources.text(Sources.add(Text, "file")), "file", Found, Diags);
  if (P.has_value() == (Found.hasErrors() || Diags.hasErrors()))
    std::abort();
  if (!P)
    return;
  if (!ir::verify(*P, Diags))
    std::abort();
  P->Spec.Emits = llvm::cantFail(
      convert::emitsFor({"chakra", "goal", "simgrid"}, "all", false));
  for (const ir::EmitSpec &E : P->Spec.Emits)
    checkBackend(*P, E, Diags);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const llvm::StringRef Text(reinterpret_cast<const char *>(Data), Size);
  (void)validate::recognize(Text);
  check(Text);
  convertTable(Text);
  return 0;
}
