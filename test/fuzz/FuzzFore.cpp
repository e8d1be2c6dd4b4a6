// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a `.fore` file and as TOML: the parsers must return, and either
// give an AST or say why not.
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

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  llvm::StringRef Text(reinterpret_cast<const char *>(Data), Size);
  check(Text, parseFore);
  check(Text, parseToml);
  return 0;
}
