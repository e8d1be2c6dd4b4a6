// SPDX-License-Identifier: Apache-2.0
#include "backends/optimus/Options.h"
#include "backends/EmitOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::optimus;

/// The index of a word among \p Words; reports any other value.
static std::optional<size_t> readWord(const NamedAttribute &A,
                                      llvm::ArrayRef<llvm::StringRef> Words,
                                      DiagnosticEngine &Diags) {
  const auto *Found = llvm::find(Words, A.Value.Text);
  if (A.Value.K == Attribute::Kind::Name && Found != Words.end())
    return Found - Words.begin();
  reportOptionValue(A, "one of " + llvm::join(Words, ", "), Diags);
  return std::nullopt;
}

static void readFormat(const NamedAttribute &A, Options &O,
                       DiagnosticEngine &Diags) {
  if (std::optional<size_t> I = readWord(A, {"log", "json", "table"}, Diags))
    O.As = static_cast<Format>(*I);
}

static void readFamily(const NamedAttribute &A, Options &O,
                       DiagnosticEngine &Diags) {
  static constexpr llvm::StringRef Names[] = {
#define FAMILY(ENUMERATOR, NAME, CLASS, ROWS) NAME,
#include "backends/optimus/Families.def"
  };
  if (std::optional<size_t> I = readWord(A, Names, Diags))
    O.Family = static_cast<optimus::Family>(*I);
}

static void readTransformers(const NamedAttribute &A, Options &O,
                             DiagnosticEngine &Diags) {
  if (A.Value.K != Attribute::Kind::Text)
    return reportOptionValue(A, "a version in quotes, \"4.46\"", Diags);
  O.Transformers = A.Value.Text;
}

Options foretrace::optimus::readOptions(const EmitSpec &Emit,
                                        DiagnosticEngine &Diags) {
  static constexpr struct {
    llvm::StringLiteral Name;
    void (*Read)(const NamedAttribute &, Options &, DiagnosticEngine &);
  } Rows[] = {{"format", readFormat},
              {"family", readFamily},
              {"transformers", readTransformers}};
  std::vector<llvm::StringRef> Known = {"file"};
  Options O;
  for (const auto &Row : Rows) {
    Known.push_back(Row.Name);
    if (const NamedAttribute *A = Emit.Options.find(Row.Name))
      Row.Read(*A, O, Diags);
  }
  checkOptionNames(Emit, Known, Diags);
  readFile(Emit, "", Diags);
  return O;
}
