// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/Listings.h"
#include "backends/Backends.h"
#include "passes/PassManager.h"
#include "tools/driver/ModelLibrary.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

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

static constexpr StringRef Names[] = {"passes", "backends", "options",
                                      "models", "clusters", "diagnostics"};
/// By name; null for a folder of the library.
static constexpr void (*Lists[])(raw_ostream &) = {
    listPasses, listBackends, listOptions, nullptr, nullptr, listDiagnostics};

ArrayRef<StringRef> listingNames() { return Names; }

static Error listFolder(StringRef Folder, StringRef Library, raw_ostream &OS) {
  const std::vector<std::string> Files = listLibrary(Library, Folder);
  for (const std::string &File : Files)
    OS << File << "\n";
  if (!Files.empty())
    return Error::success();
  return createStringError("list: there are no " + Folder + " in `" + Library +
                           "/" + Folder +
                           "`; an installed foretrace has them in "
                           "../share/foretrace/" +
                           Folder);
}

Error list(StringRef Name, StringRef Library, raw_ostream &OS) {
  const auto *Found = find(Names, Name);
  assert(Found != std::end(Names) && "it is one of them");
  const auto List = Lists[Found - std::begin(Names)];
  if (!List)
    return listFolder(Name, Library, OS);
  List(OS);
  return Error::success();
}

} // namespace foretrace::driver
