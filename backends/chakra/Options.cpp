// SPDX-License-Identifier: Apache-2.0
#include "backends/chakra/Options.h"
#include "backends/EmitOptions.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::chakra;

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
      {"dir", [](const NamedAttribute &A, Options &O,
                 DiagnosticEngine &D) { readDir(A, O.Files.Dir, D); }},
      {"name", [](const NamedAttribute &A, Options &O,
                  DiagnosticEngine &D) { readName(A, O.Files.Name, D); }},
      {"ranks", readRankList},
      {"provenance", readProvenance}};
  Options O;
  readEmitOptions<Options>(Emit, Rows, {}, O, Diags);
  return O;
}
