// SPDX-License-Identifier: Apache-2.0
//
// `foretrace list`: what there is, one line each.
#include "tools/driver/FormatOption.h"
#include "tools/driver/Listings.h"
#include "tools/driver/NearMisses.h"
#include "tools/foretrace/Messages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace {

static const std::string Alternatives = join(driver::listingNames(), "|");
static cl::opt<std::string> What(cl::Positional, cl::cat(jobCategory()),
                                 cl::sub(listCommand()),
                                 cl::desc(Alternatives));

static driver::QuantityFormatOption ListFormat(listCommand(), outputCategory(),
                                               "Format of the list:");

ExitCode runList() {
  if (!is_contained(driver::listingNames(), What))
    return usageError("list: expected one of " +
                      join(driver::listingNames(), ", ") +
                      driver::didYouMean(What, driver::listingNames()));
  driver::list(What, ListFormat, ListFormat.isExact(), outs());
  return ExitSuccess;
}

} // namespace foretrace
