// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/NearMisses.h"
#include "frontend/Frontend.h"
#include "lang/DidYouMean.h"

using namespace llvm;

namespace foretrace::driver {

std::string unknownCommand(StringRef Argument, ArrayRef<StringRef> Known) {
  const std::string What = "`" + Argument.str() + "` is not a subcommand";
  if (Argument.ends_with(".fore"))
    return (What + "; write `foretrace plan " + Argument +
            "`, or `foretrace compile " + Argument + "`")
        .str();
  const StringRef Nearest = nearestWord(Argument, Known);
  return Nearest.empty() ? What
                         : What + "; did you mean `" + Nearest.str() + "`?";
}

std::string keyAsOption(ArrayRef<char *> Arguments,
                        function_ref<bool(StringRef)> IsOption) {
  for (const StringRef Argument : Arguments) {
    StringRef Written = Argument;
    if (!Written.consume_front("--"))
      continue;
    const auto [Name, Value] = Written.split('=');
    const std::string Path = pathOfKey(Name);
    if (!Path.empty() && !IsOption(Name))
      return ("`" + Argument + "` is not an option; a key is changed by `-D " +
              Path + "=" + (Value.empty() ? "VALUE" : Value) + "`")
          .str();
  }
  return "";
}

} // namespace foretrace::driver
