// SPDX-License-Identifier: Apache-2.0
#include "backends/optimus/Options.h"
#include "backends/EmitOptions.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::optimus;

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
  static constexpr EmitOption<Options> Rows[] = {
      {"format", readFormat},
      {"family", readFamily},
      {"transformers", readTransformers}};
  Options O;
  readEmitOptions<Options>(Emit, Rows, {"file"}, O, Diags);
  readFile(Emit, "", Diags);
  return O;
}
