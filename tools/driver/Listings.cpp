// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/Listings.h"
#include "backends/Backends.h"
#include "lang/Library.h"
#include "passes/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::driver {

static void printRow(StringRef Name, StringRef Text, raw_ostream &OS) {
  OS << formatv("{0,-24} {1}\n", Name, Text);
}

static void listPasses(raw_ostream &OS) {
  for (const PassInfo &P : allPasses())
    printRow(P.Name, P.Summary, OS);
}

static void listBackends(raw_ostream &OS) {
  for (const Backend &B : allBackends())
    printRow(B.Name, B.Summary, OS);
}

static void listOptions(raw_ostream &OS) {
  for (const Backend &B : allBackends())
    for (const EmitOption &O : B.Options())
      OS << formatv("{0,-36} {1}; default: {2}; {3}\n",
                    (B.Name + "." + O.Name).str(), O.Expected(), O.Default(),
                    O.Doc);
}

static void listDiagnostics(raw_ostream &OS) {
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

static void listModels(raw_ostream &OS) { listFolder("models", OS); }
static void listClusters(raw_ostream &OS) { listFolder("clusters", OS); }

static constexpr StringRef Names[] = {"passes", "backends", "options",
                                      "models", "clusters", "diagnostics"};
/// By name.
static constexpr void (*Lists[])(raw_ostream &) = {
    listPasses, listBackends, listOptions,
    listModels, listClusters, listDiagnostics};

ArrayRef<StringRef> listingNames() { return Names; }

void list(StringRef Name, raw_ostream &OS) {
  const auto *Found = find(Names, Name);
  assert(Found != std::end(Names) && "it is one of them");
  Lists[Found - std::begin(Names)](OS);
}

} // namespace foretrace::driver
