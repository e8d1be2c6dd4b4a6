// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Options.h"
#include "backends/EmitOptions.h"
#include "llvm/ADT/SmallVector.h"

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

/// `3` or `8-11`.
static std::optional<RankRange> parseRange(llvm::StringRef Text) {
  auto [First, Last] = Text.trim().split('-');
  RankRange R{};
  if (First.trim().getAsInteger(10, R.First) || R.First < 0)
    return std::nullopt;
  R.Last = R.First;
  if (Text.contains('-') &&
      (Last.trim().getAsInteger(10, R.Last) || R.Last < R.First))
    return std::nullopt;
  return R;
}

static void readRanks(const NamedAttribute &A, Options &O,
                      DiagnosticEngine &Diags) {
  const Attribute &V = A.Value;
  if (V.K == Attribute::Kind::Name && V.Text == "all")
    return;
  if (V.K == Attribute::Kind::Int && V.Integer >= 0) {
    O.Ranks.push_back({V.Integer, V.Integer, V.Range});
    return;
  }
  llvm::SmallVector<llvm::StringRef> Parts;
  llvm::StringRef(V.Text).split(Parts, ',');
  for (llvm::StringRef Part : Parts)
    if (std::optional<RankRange> R = parseRange(Part)) {
      R->Range = V.Range;
      O.Ranks.push_back(*R);
    }
  if (V.K != Attribute::Kind::Text || O.Ranks.size() != Parts.size())
    reportOptionValue(A, "`all`, a rank, or ranks in quotes, \"0,4,8-11\"",
                      Diags);
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

static void readDir(const NamedAttribute &A, Options &O,
                    DiagnosticEngine &Diags) {
  if (A.Value.K != Attribute::Kind::Text)
    return reportOptionValue(A, "a folder in quotes", Diags);
  O.Dir = A.Value.Text;
}

Options foretrace::megatron::readOptions(const EmitSpec &Emit,
                                         DiagnosticEngine &Diags) {
  static constexpr EmitOption<Options> Rows[] = {{"dir", readDir},
                                                 {"dialect", readDialect},
                                                 {"scaling", readScaling},
                                                 {"ranks", readRanks},
                                                 {"durations", readDurations}};
  Options O;
  readEmitOptions<Options>(Emit, Rows, {}, O, Diags);
  return O;
}
