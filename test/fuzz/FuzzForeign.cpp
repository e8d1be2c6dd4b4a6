// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as YAML or JSON, a script of the shell, or Python, which the first
// character chooses: they are read, or there is a diagnostic.
#include "lang/DiagnosticClient.h"
#include "tools/importers/Importers.h"
#include "tools/importers/formulas/ForeignValue.h"
#include "tools/importers/readers/ReadPython.h"
#include "tools/importers/shell/ReadShell.h"
#include <cstdlib>

using namespace foretrace;
using namespace foretrace::importers;

/// Whether there must be no error.
static bool read(char Kind, SourceText Text, ImportRequest &Request) {
  switch (Kind) {
  case 's':
    return readShell(Text, Request).has_value();
  case 'p':
    readPython(Text); // without functions it is empty
    return true;
  default:
    return readYaml(Text, Request.Diags).has_value();
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const llvm::StringRef All(reinterpret_cast<const char *>(Data), Size);
  if (All.empty())
    return 0;
  SourceFiles Sources(
      llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>());
  const SourceText Text =
      Sources.text(Sources.add(All.drop_front(), "input"));
  DiagnosticEngine Diags;
  const std::vector<std::string> Words = {"input"};
  ImportRequest Request{Words, Sources, Diags};
  const bool IsRead = read(All.front(), Text, Request);
  showAll(Diags, Sources, *makeTextClient(llvm::nulls()));
  if (IsRead == Diags.hasErrors())
    std::abort();
  return 0;
}
