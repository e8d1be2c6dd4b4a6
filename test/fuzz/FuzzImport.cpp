// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the file of another tool, which the first line names: it is
// imported to text that parses, or there is a diagnostic.
#include "frontend/Parse.h"
#include "lang/DiagnosticClient.h"
#include "tools/importers/Importers.h"
#include <cstdlib>

using namespace foretrace;
namespace vfs = llvm::vfs;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const auto [Name, Text] =
      llvm::StringRef(reinterpret_cast<const char *>(Data), Size).split('\n');
  const importers::Importer *Format = importers::findImporter(Name);
  if (!Format)
    return 0;
  auto Memory = llvm::makeIntrusiveRefCnt<vfs::InMemoryFileSystem>();
  Memory->addFile("input", 0, llvm::MemoryBuffer::getMemBufferCopy(Text));
  SourceFiles Sources(Memory);
  DiagnosticEngine Diags;
  const std::vector<std::string> Words = {"input"};
  importers::ImportRequest Request{Words, Sources, Diags};
  std::optional<importers::ImportedJob> Job = Format->Import(Request);
  showAll(Diags, Sources, *makeTextClient(llvm::nulls()));
  if (Diags.hasErrors())
    return 0;
  if (!Job)
    std::abort();
  Job->Model = "model";
  std::string Made;
  llvm::raw_string_ostream OS(Made);
  Job->write(OS);
  DiagnosticEngine OfText;
  if (!parseFore(Sources.text(Sources.add(Made, "job.fore")), OfText))
    std::abort();
  return 0;
}
