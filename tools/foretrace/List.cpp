// SPDX-License-Identifier: Apache-2.0
//
// `foretrace list`: what there is, one line each.
#include "tools/driver/FormatOption.h"
#include "tools/driver/Listings.h"
#include "tools/foretrace/Messages.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace {

static const std::string Alternatives = join(driver::listingNames(), "|");
static cl::opt<std::string> What(cl::Positional, jobOption(listCommand()),
                                 cl::desc(Alternatives));

static driver::QuantityFormatOption ListFormat(listCommand(), outputCategory(),
                                               "Format of the list:");
static cl::opt<bool> All("all", outputOption(listCommand()),
                         cl::desc("Print all keys of devices and clusters"));

ExitCode runList() {
  const std::string Mistake = driver::mistakeInList(What, All);
  if (!Mistake.empty())
    return usageError("list: " + Mistake);
  driver::list(What, ListFormat, ListFormat.isExact(), All, outs());
  return ExitSuccess;
}

} // namespace foretrace
