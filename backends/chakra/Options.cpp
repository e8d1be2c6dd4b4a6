// SPDX-License-Identifier: Apache-2.0
#include "backends/chakra/Options.h"
#include "backends/EmitOptions.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::chakra;

static void readDir(const NamedAttribute &A, Options &O,
                    DiagnosticEngine &Diags) {
  if (A.Value.K != Attribute::Kind::Text)
    return reportOptionValue(A, "a folder in quotes", Diags);
  O.Dir = A.Value.Text;
}

static void readName(const NamedAttribute &A, Options &O,
                     DiagnosticEngine &Diags) {
  const llvm::StringRef Text = A.Value.Text;
  if (A.Value.K != Attribute::Kind::Text || Text.empty() || Text.contains('/'))
    return reportOptionValue(A, "the beginning of a file's name, in quotes",
                             Diags);
  O.Name = Text;
}

static void readRankList(const NamedAttribute &A, Options &O,
                         DiagnosticEngine &Diags) {
  O.IsByClass = A.Value.K == Attribute::Kind::Name && A.Value.Text == "classes";
  if (!O.IsByClass)
    readRanks(A, O.Ranks, Diags, "`all`, `classes`");
}

static void readProvenance(const NamedAttribute &A, Options &O,
                           DiagnosticEngine &Diags) {
  if (A.Value.K != Attribute::Kind::Bool)
    return reportOptionValue(A, "true or false", Diags);
  O.HasProvenance = A.Value.Integer != 0;
}

Options chakra::readOptions(const EmitSpec &Emit, DiagnosticEngine &Diags) {
  static constexpr EmitOption<Options> Rows[] = {
      {"dir", readDir},
      {"name", readName},
      {"ranks", readRankList},
      {"provenance", readProvenance}};
  Options O;
  readEmitOptions<Options>(Emit, Rows, {}, O, Diags);
  return O;
}

std::string Options::path(const EmitRequest &Request,
                          const llvm::Twine &End) const {
  llvm::SmallString<64> Path(Dir);
  const llvm::StringRef Stem = Name.empty() ? Request.DefaultStem : Name;
  llvm::sys::path::append(Path, Stem + "." + End);
  return Path.str().str();
}
