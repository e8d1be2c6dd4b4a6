// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a `.fore` file and as TOML: the parsers must return, and either
// give an AST or say why not. Formatting what was formatted changes nothing.
#include "frontend/Format.h"
#include "frontend/Parse.h"
#include "lang/DiagnosticClient.h"
#include <cstdlib>

using namespace foretrace;

/// Parses \p Text and renders what was said; aborts if that was nothing though
/// there is no result.
template <typename ParserT>
static void check(llvm::StringRef Text, ParserT Parser) {
  SourceFiles Sources;
  DiagnosticEngine Diags;
  const FileId Id = Sources.add(Text, "input");
  bool HasResult = Parser(Sources.text(Id), Diags).has_value();
  if (HasResult == Diags.hasErrors())
    std::abort();
  showAll(Diags, Sources, *makeTextClient(llvm::nulls()));
  showAll(Diags, Sources, *makeJSONClient(llvm::nulls()));
}

static std::optional<std::string> format(llvm::StringRef Text) {
  SourceFiles Sources;
  DiagnosticEngine Diags;
  return formatFore(Sources.text(Sources.add(Text, "input")), Diags);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  llvm::StringRef Text(reinterpret_cast<const char *>(Data), Size);
  check(Text, parseFore);
  check(Text, parseToml);
  if (const std::optional<std::string> Once = format(Text);
      Once && format(*Once) != Once)
    std::abort();
  return 0;
}
