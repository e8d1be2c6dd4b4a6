// SPDX-License-Identifier: Apache-2.0
//
// JSON files of SimuMax and Calculon: those of a model and of its training,
// whose keys differ, in any order.
#include "lang/diagnostics/Import.h"
#include "tools/importers/Importers.h"
#include "tools/importers/Translation.h"

using namespace llvm;

namespace foretrace::importers {

/// The keys of all files.
static std::optional<ForeignValue> readTogether(ImportRequest &Request) {
  std::vector<ForeignValue::Member> Members;
  SourceRange Whole;
  for (const std::string &Path : Request.Words) {
    const std::optional<SourceText> Text = Request.read(Path);
    const std::optional<ForeignValue> Root =
        Text ? readYaml(*Text, Request.Diags) : std::nullopt;
    if (!Root)
      return std::nullopt;
    if (!Whole.isValid())
      Whole = Root->Range;
    Members.insert(Members.end(), Root->Members->begin(), Root->Members->end());
  }
  return ForeignValue::of(std::move(Members), Whole);
}

static std::optional<ImportedJob> importTogether(ImportRequest &Request,
                                                 StringRef Class) {
  const std::optional<ForeignValue> Root = readTogether(Request);
  if (!Root)
    return std::nullopt;
  Pages Classes("import/simulators.fore", Request.Sources, Request.Diags);
  return translate(Classes, *Classes.findClass(Class), *Root, Request);
}

std::optional<ImportedJob> importSimuMax(ImportRequest &Request) {
  return importTogether(Request, "simumax");
}

std::optional<ImportedJob> importCalculon(ImportRequest &Request) {
  return importTogether(Request, "calculon");
}

} // namespace foretrace::importers
