// SPDX-License-Identifier: Apache-2.0
#include "backends/astra/Options.h"
#include "backends/EmissionOf.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::astra;
using namespace foretrace::option;

namespace {

enum class RanksTaken : unsigned char { Any, PowersOfTwo };

constexpr llvm::StringRef AlgorithmNames[] = {
#define ASTRA_ALGORITHM(ENUMERATOR, NAME, RANKS) NAME,
#include "backends/astra/Algorithms.def"
};
constexpr llvm::StringRef Networks[] = {"unaware", "aware"};

/// One of the first \p Count rows of the algorithms.
template <size_t Count> struct FirstAlgorithms : KindBase {
  static std::string expected() { return oneOf(words()); }
  static llvm::ArrayRef<llvm::StringRef> words() {
    return llvm::ArrayRef(AlgorithmNames).take_front(Count);
  }
  static bool read(const Attribute &A, Located<CollectiveImplementation> &Into,
                   DiagnosticEngine &) {
    const std::optional<size_t> I = findWord(A, words());
    if (I)
      Into.state(static_cast<CollectiveImplementation>(*I), A.Range);
    return I.has_value();
  }
};

/// Each is a stream of its own in ASTRA-sim.
using SplitCount = Number<1, 1024>;

/// In ns, of an `int` there.
struct DelayTime : Number<0, 1'000'000'000> {
  static std::string expected() { return "a time of at most 1 s, `10 ns`"; }
};

} // namespace

llvm::StringRef astra::getName(CollectiveImplementation A) {
  return AlgorithmNames[static_cast<size_t>(A)];
}

bool astra::needsPowerOfTwo(CollectiveImplementation A) {
  static constexpr RanksTaken Rows[] = {
#define ASTRA_ALGORITHM(ENUMERATOR, NAME, RANKS) RanksTaken::RANKS,
#include "backends/astra/Algorithms.def"
  };
  return Rows[static_cast<size_t>(A)] == RanksTaken::PowersOfTwo;
}

Located<CollectiveImplementation> &Options::chosen(OpKind Of) {
  const auto *Row = llvm::find_if(
      Collectives, [&](const CollectiveRow &R) { return R.Kind == Of; });
  return Chosen[static_cast<size_t>(Row - Collectives)];
}

constexpr EmitOption astra::OptionRows[] = {
#include "backends/astra/Options.def"
};
constexpr EmitReader astra::Reader = readerOf<Options>(OptionRows);
