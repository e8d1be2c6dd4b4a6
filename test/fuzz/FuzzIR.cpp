// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as IR text: the parser must give a program or say why not, the
// verifier must return, what is printed must read back as it was, and passes
// must cope with whatever verifies.
#include "ir/text/Parse.h"
#include "ir/text/Print.h"
#include "ir/verify/Verify.h"
#include "lang/DiagnosticClient.h"
#include "test/fuzz/Compile.h"
#include <cstdlib>

using namespace foretrace;

static std::optional<ir::Program>
parse(llvm::StringRef Text, SourceFiles &Sources, DiagnosticEngine &Diags) {
  return ir::parse(Sources, Sources.add(Text, "input"), Diags);
}

static std::string print(const ir::Program &P) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  ir::print(P, OS);
  return Text;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  SourceFiles Sources;
  DiagnosticEngine Diags;
  llvm::StringRef Text(reinterpret_cast<const char *>(Data), Size);
  std::optional<ir::Program> P = parse(Text, Sources, Diags);
  if (P.has_value() == Diags.hasErrors())
    std::abort();
  if (P) {
    ir::verify(*P, Diags);
    std::string Printed = print(*P);
    DiagnosticEngine Again;
    std::optional<ir::Program> Reread = parse(Printed, Sources, Again);
    if (!Reread || print(*Reread) != Printed)
      std::abort();
    if (!Diags.hasErrors() && runAllPasses(*P, Diags))
      checkAllBackends(*P, Diags);
  }
  showAll(Diags, Sources, *makeTextClient(llvm::nulls()));
  return 0;
}
