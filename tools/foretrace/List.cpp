// SPDX-License-Identifier: Apache-2.0
//
// `foretrace list`: what there is, one line each, from the tables.
#include "backends/Backend.h"
#include "passes/PassManager.h"
#include "tools/driver/ModelLibrary.h"
#include "tools/foretrace/Commands.h"
#include "tools/foretrace/JobOptions.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace {

static cl::opt<std::string>
    What(cl::Positional, cl::cat(jobCategory()), cl::sub(listCommand()),
         cl::desc("passes|backends|models|clusters|diagnostics"));

static void printRow(StringRef Name, StringRef Text) {
  outs() << formatv("{0,-24} {1}\n", Name, Text);
}

/// The files of a folder of the library.
static ExitCode listLibrary(StringRef Folder) {
  const std::vector<std::string> Names =
      driver::listLibrary(libraryPath(), Folder);
  for (const std::string &Name : Names)
    outs() << Name << "\n";
  if (!Names.empty())
    return ExitSuccess;
  errs() << "foretrace: list: there are no " << Folder << " in `"
         << libraryPath() << "/" << Folder
         << "`; an installed foretrace has them in ../share/foretrace/"
         << Folder << "\n";
  return ExitDiagnosed;
}

static ExitCode listDiagnostics() {
  static constexpr StringRef Severities[] = {"error", "warning", "note"};
  for (unsigned I = 0; I != diag::NumDiagnostics; ++I) {
    const DiagnosticInfo &Info = getDiagnosticInfo(diag::Id(I));
    outs() << formatv("{0,-28} {1,-8} {2}\n", Info.Slug,
                      Severities[static_cast<unsigned>(Info.Level)], Info.Text);
  }
  return ExitSuccess;
}

static ExitCode listPasses() {
  for (const PassInfo &P : allPasses())
    printRow(P.Name, P.Summary);
  return ExitSuccess;
}

static ExitCode listBackends() {
  for (const Backend &B : allBackends())
    printRow(B.Name, B.Summary);
  return ExitSuccess;
}

ExitCode runList() {
  if (What == "models" || What == "clusters")
    return listLibrary(What);
  auto List = StringSwitch<ExitCode (*)()>(What)
                  .Case("passes", listPasses)
                  .Case("backends", listBackends)
                  .Case("diagnostics", listDiagnostics)
                  .Default(nullptr);
  if (!List)
    return usageError("list: say what: passes, backends, models, "
                      "clusters or diagnostics");
  return List();
}

} // namespace foretrace
