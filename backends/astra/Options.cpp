// SPDX-License-Identifier: Apache-2.0
#include "backends/astra/Options.h"
#include "backends/EmitOptions.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::astra;

namespace {

enum class RanksTaken : unsigned char { Any, PowersOfTwo };

constexpr llvm::StringRef AlgorithmNames[] = {
#define ASTRA_ALGORITHM(ENUMERATOR, NAME, RANKS) NAME,
#include "backends/astra/Algorithms.def"
};

} // namespace

llvm::StringRef astra::getName(Algorithm A) {
  return AlgorithmNames[static_cast<size_t>(A)];
}

bool astra::needsPowerOfTwo(Algorithm A) {
  static constexpr RanksTaken Rows[] = {
#define ASTRA_ALGORITHM(ENUMERATOR, NAME, RANKS) RanksTaken::RANKS,
#include "backends/astra/Algorithms.def"
  };
  return Rows[static_cast<size_t>(A)] == RanksTaken::PowersOfTwo;
}

static void readNetwork(const NamedAttribute &A, Options &O,
                        DiagnosticEngine &Diags) {
  if (std::optional<size_t> I = readWord(A, {"unaware", "aware"}, Diags))
    O.Network = static_cast<NetworkKind>(*I);
}

static void readAlgorithm(const NamedAttribute &A, Options &O,
                          DiagnosticEngine &Diags) {
  const auto *Row = llvm::find_if(
      Collectives, [&](const CollectiveRow &R) { return R.Option == A.Name; });
  if (std::optional<size_t> I = readWord(
          A, llvm::ArrayRef(AlgorithmNames).take_front(Row->Algorithms), Diags))
    O.Chosen[static_cast<size_t>(Row - Collectives)].state(
        static_cast<Algorithm>(*I), A.Value.Range);
}

static void readRoofline(const NamedAttribute &A, Options &O,
                         DiagnosticEngine &Diags) {
  if (A.Value.K != Attribute::Kind::Bool)
    return reportOptionValue(A, "true or false", Diags);
  O.HasRoofline = A.Value.Integer != 0;
}

static void readSplits(const NamedAttribute &A, Options &O,
                       DiagnosticEngine &Diags) {
  constexpr int64_t Most = 1024; // each is a stream of its own in ASTRA-sim
  if (A.Value.K != Attribute::Kind::Int || A.Value.Integer < 1 ||
      A.Value.Integer > Most)
    return reportOptionValue(A, "a number from 1 to 1024", Diags);
  O.Splits = A.Value.Integer;
}

static void readEndpointDelay(const NamedAttribute &A, Options &O,
                              DiagnosticEngine &Diags) {
  constexpr int64_t Most = 1'000'000'000; // ns, of an `int` there
  if (A.Value.K != Attribute::Kind::Int || A.Value.Integer < 0 ||
      A.Value.Integer > Most)
    return reportOptionValue(A, "a time of at most 1 s, `10 ns`", Diags);
  O.EndpointDelay = A.Value.Integer;
}

Options astra::readOptions(const EmitSpec &Emit, DiagnosticEngine &Diags) {
  static constexpr EmitOption<Options> Rows[] = {
      {"dir", [](const NamedAttribute &A, Options &O,
                 DiagnosticEngine &D) { readDir(A, O.Files.Dir, D); }},
      {"name", [](const NamedAttribute &A, Options &O,
                  DiagnosticEngine &D) { readName(A, O.Files.Name, D); }},
      {"network", readNetwork},
#define ASTRA_COLLECTIVE(KIND, OPTION, ...) {OPTION, readAlgorithm},
#include "backends/astra/Algorithms.def"
      {"roofline", readRoofline},
      {"splits", readSplits},
      {"endpoint_delay", readEndpointDelay},
  };
  Options O;
  readEmitOptions<Options>(Emit, Rows, {}, O, Diags);
  return O;
}
