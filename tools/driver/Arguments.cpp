// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/Arguments.h"
#include "frontend/Frontend.h"
#include "lang/DidYouMean.h"
#include <deque>

using namespace llvm;

namespace foretrace::driver {

std::string unknownCommand(StringRef Argument, ArrayRef<StringRef> Known) {
  const std::string What = "`" + Argument.str() + "` is not a subcommand";
  if (Argument.ends_with(".fore"))
    return (What + "; write `foretrace plan " + Argument +
            "`, or `foretrace compile " + Argument + "`")
        .str();
  if (const std::optional<StringRef> Lacking = findNotModelled(Argument))
    return (Twine(What) + "; " + *Lacking + " (docs/limits.md)").str();
  return What + didYouMean(Argument, Known);
}

/// Returns the path of the key that \p Name is, unless it is an option.
static std::string pathOfOption(StringRef Name,
                                function_ref<bool(StringRef)> IsOption) {
  if (IsOption(Name))
    return "";
  std::string Key = Name.str(); // also with dashes
  std::replace(Key.begin(), Key.end(), '-', '_');
  return Name == "cluster" ? "cluster" : pathOfKey(Key);
}

static std::string overrideFor(StringRef Argument,
                               function_ref<bool(StringRef)> IsOption) {
  if (!IsOption("D") || !Argument.consume_front("--"))
    return "";
  const auto [Name, Value] = Argument.split('=');
  const std::string Path = pathOfOption(Name, IsOption);
  return Path.empty() || Value.empty() ? "" : ("-D" + Path + "=" + Value).str();
}

static std::string keyAsOption(ArrayRef<char *> Arguments,
                               function_ref<bool(StringRef)> IsOption) {
  for (const StringRef Argument : Arguments) {
    StringRef Written = Argument;
    if (!Written.consume_front("--"))
      continue;
    const StringRef Name = Written.split('=').first;
    if (pathOfOption(Name, IsOption).empty())
      continue;
    return IsOption("D")
               ? ("a key and its value are one word: `--" + Name + "=VALUE`")
                     .str()
               : ("`" + Argument +
                  "` sets a key of a job, but this command changes no job")
                     .str();
  }
  return "";
}

static std::string splitOverride(ArrayRef<char *> Arguments) {
  for (size_t I = 0; I + 1 < Arguments.size(); ++I) {
    StringRef Key = Arguments[I];
    if (!Key.consume_front("-D"))
      continue;
    const size_t Next = Key.empty() ? ++I : I;
    if (Key.empty())
      Key = Arguments[Next];
    if (Key.contains('=') || Next + 1 >= Arguments.size())
      continue;
    const StringRef Value = Arguments[Next + 1];
    if (!Value.starts_with("-") && !Value.ends_with(".fore"))
      return ("a key and its value are one word: `-D " + Key + "=" + Value +
              "`")
          .str();
  }
  return "";
}

std::string replaceKeys(MutableArrayRef<char *> Arguments,
                        function_ref<bool(StringRef)> IsOption) {
  static std::deque<std::string> Texts;
  // Words after `--` are options of another tool.
  Arguments = Arguments.take_until([](StringRef A) { return A == "--"; });
  for (char *&Argument : Arguments)
    if (std::string Key = overrideFor(Argument, IsOption); !Key.empty())
      Argument = Texts.emplace_back(std::move(Key)).data();
  const std::string Key = keyAsOption(Arguments, IsOption);
  return Key.empty() ? splitOverride(Arguments) : Key;
}

} // namespace foretrace::driver
