// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/Listings.h"
#include "backends/Backend.h"
#include "passes/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::driver {

static void printRow(StringRef Name, StringRef Text, raw_ostream &OS) {
  OS << formatv("{0,-24} {1}\n", Name, Text);
}

void listPasses(raw_ostream &OS) {
  for (const PassInfo &P : allPasses())
    printRow(P.Name, P.Summary, OS);
}

void listBackends(raw_ostream &OS) {
  for (const Backend &B : allBackends())
    printRow(B.Name, B.Summary, OS);
}

void listDiagnostics(raw_ostream &OS) {
  static constexpr StringRef Severities[] = {"error", "warning", "note"};
  for (unsigned I = 0; I != diag::NumDiagnostics; ++I) {
    const DiagnosticInfo &Info = getDiagnosticInfo(diag::Id(I));
    OS << formatv("{0,-28} {1,-8} {2}\n", Info.Slug,
                  Severities[static_cast<unsigned>(Info.Level)], Info.Text);
  }
}

} // namespace foretrace::driver
