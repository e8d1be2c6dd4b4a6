// SPDX-License-Identifier: Apache-2.0
//
// `foretrace list`: what there is, one line each.
#include "tools/driver/Listings.h"
#include "tools/foretrace/Commands.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace foretrace {

static cl::opt<std::string>
    What(cl::Positional, cl::cat(jobCategory()), cl::sub(listCommand()),
         cl::desc("passes|backends|models|clusters|diagnostics"));

ExitCode runList() {
  auto List = StringSwitch<void (*)(raw_ostream &)>(What)
                  .Case("passes", driver::listPasses)
                  .Case("backends", driver::listBackends)
                  .Case("diagnostics", driver::listDiagnostics)
                  .Case("models", driver::listModels)
                  .Case("clusters", driver::listClusters)
                  .Default(nullptr);
  if (!List)
    return usageError("list: say what: passes, backends, models, "
                      "clusters or diagnostics");
  List(outs());
  return ExitSuccess;
}

} // namespace foretrace
