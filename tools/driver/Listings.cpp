// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/Listings.h"
#include "backends/Backend.h"
#include "lang/Library.h"
#include "passes/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

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

static void listFolder(StringRef Folder, raw_ostream &OS) {
  for (const LibraryFile &F : libraryFiles())
    if (sys::path::parent_path(F.Path) == Folder)
      OS << F.Path << '\n';
}

void listModels(raw_ostream &OS) { listFolder("models", OS); }
void listClusters(raw_ostream &OS) { listFolder("clusters", OS); }

} // namespace foretrace::driver
