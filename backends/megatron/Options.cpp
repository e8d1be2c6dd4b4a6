// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Options.h"
#include "backends/EmitOptions.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::megatron;

static void readDialect(const NamedAttribute &A, Options &O,
                        DiagnosticEngine &Diags) {
  static constexpr llvm::StringRef Spellings[] = {
#define DIALECT(ENUMERATOR, SPELLING, DOC) SPELLING,
#include "backends/megatron/Dialects.def"
  };
  if (std::optional<size_t> I = readWord(A, Spellings, Diags))
    O.How.Dialect = static_cast<Dialect>(*I);
}

static void readRankList(const NamedAttribute &A, Options &O,
                         DiagnosticEngine &Diags) {
  readRanks(A, O.Ranks, Diags);
}

static void readScaling(const NamedAttribute &A, Options &O,
                        DiagnosticEngine &Diags) {
  if (A.Value.K != Attribute::Kind::Bool)
    return reportOptionValue(A, "true or false", Diags);
  O.How.Scaling = A.Value.Integer != 0;
}

static void readDurations(const NamedAttribute &A, Options &O,
                          DiagnosticEngine &Diags) {
  if (std::optional<size_t> I = readWord(A, {"blank", "estimated"}, Diags)) {
    O.HasDurations = *I == 1;
    O.DurationsRange = A.Value.Range;
  }
}

static void readFolder(const NamedAttribute &A, Options &O,
                       DiagnosticEngine &Diags) {
  readDir(A, O.Dir, Diags);
}

Options foretrace::megatron::readOptions(const EmitSpec &Emit,
                                         DiagnosticEngine &Diags) {
  static constexpr EmitOption<Options> Rows[] = {{"dir", readFolder},
                                                 {"dialect", readDialect},
                                                 {"scaling", readScaling},
                                                 {"ranks", readRankList},
                                                 {"durations", readDurations}};
  Options O;
  readEmitOptions<Options>(Emit, Rows, {}, O, Diags);
  return O;
}
