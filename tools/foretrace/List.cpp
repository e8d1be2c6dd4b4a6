// SPDX-License-Identifier: Apache-2.0
//
// `foretrace list`: what there is, one line each, from the tables.
#include "tools/driver/Listings.h"
#include "tools/driver/ModelLibrary.h"
#include "tools/foretrace/Commands.h"
#include "tools/foretrace/JobOptions.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace foretrace {

static cl::opt<std::string>
    What(cl::Positional, cl::cat(jobCategory()), cl::sub(listCommand()),
         cl::desc("passes|backends|models|clusters|diagnostics"));

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

ExitCode runList() {
  if (What == "models" || What == "clusters")
    return listLibrary(What);
  auto List = StringSwitch<void (*)(raw_ostream &)>(What)
                  .Case("passes", driver::listPasses)
                  .Case("backends", driver::listBackends)
                  .Case("diagnostics", driver::listDiagnostics)
                  .Default(nullptr);
  if (!List)
    return usageError("list: say what: passes, backends, models, "
                      "clusters or diagnostics");
  List(outs());
  return ExitSuccess;
}

} // namespace foretrace
