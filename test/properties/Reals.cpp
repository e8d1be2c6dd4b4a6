// SPDX-License-Identifier: Apache-2.0
//
// Random expressions of real numbers: their value in a table, and those of the
// evaluators of rows and of columns, have the bits of the same arithmetic on
// `double`.
#include "ir/model/Evaluate.h"
#include "ir/model/RealExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <random>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

constexpr KeyId Leaves[] = {KeyId::TrainSequence, KeyId::ModelHidden,
                            KeyId::ParallelTp};
constexpr size_t NumLeaves = std::size(Leaves);
constexpr size_t NumRows = 100;
using RowOfLeaves = std::array<int64_t, NumLeaves>;

/// An expression, and the same number computed with doubles for each row.
struct Pair {
  RealExpr Is;
  std::vector<double> Values;
};

class Maker {
public:
  Maker(ExprTable &T, std::mt19937_64 &Random, llvm::ArrayRef<RowOfLeaves> Rows)
      : Random(Random) {
    for (size_t Leaf = 0; Leaf < NumLeaves; ++Leaf) {
      Pair P = {RealExpr(Expr(T, T.key({Leaves[Leaf]}, Rows[0][Leaf]))), {}};
      for (const RowOfLeaves &Row : Rows)
        P.Values.push_back(static_cast<double>(Row[Leaf]));
      Known.push_back(std::move(P));
    }
  }

  /// Adds an expression of some that there are.
  void add();
  const Pair &last() const { return Known.back(); }

private:
  const Pair &any() { return Known[Random() % Known.size()]; }

  std::mt19937_64 &Random;
  std::vector<Pair> Known;
};

} // namespace

void Maker::add() {
  using std::max;
  using std::min;
  using std::sqrt;
  const Pair L = any(), R = any();
  const double Constant = static_cast<double>(Random() % 64) / 8;
  const auto Of = [Constant](unsigned Kind, auto A, auto B) -> decltype(A) {
    switch (Kind) {
    case 0:
      return A + B;
    case 1:
      return A * B;
    case 2:
      return A / (B + 1);
    case 3:
      return max(A, B);
    case 4:
      return min(A, B);
    case 5:
      return sqrt(A * A + B * B);
    case 6:
      return log2(1 + A * A);
    case 7:
      return A - Constant;
    default:
      return select(isLess(A, B), Constant * A, B);
    }
  };
  const auto Kind = static_cast<unsigned>(Random() % 9);
  Pair New = {Of(Kind, L.Is, R.Is), {}};
  for (const auto &[A, B] : llvm::zip_equal(L.Values, R.Values))
    New.Values.push_back(Of(Kind, A, B));
  Known.push_back(std::move(New));
}

static int64_t nanosecondsOf(double Seconds) {
  return applyRealOp(ExprOp::RealNanoseconds, bitsOf(Seconds), 0);
}

/// A function of three numbers.
static constexpr ExprFunction Mix = {"mix", [](llvm::ArrayRef<int64_t> Of) {
                                       return Of[0] % 1000 * Of[1] - Of[2];
                                     }};

/// Returns the number of values, none of which differs, or nothing.
static std::optional<size_t> check(std::mt19937_64 &Random) {
  std::vector<RowOfLeaves> Rows(NumRows);
  for (RowOfLeaves &Row : Rows)
    for (int64_t &Number : Row)
      Number = static_cast<int64_t>(Random() % 100000);
  ExprTable T;
  Maker M(T, Random, Rows);
  for (unsigned I = 0; I < 20; ++I)
    M.add();
  const Expr Time = nanoseconds(M.last().Is);
  const Expr First(T, T.key({Leaves[0]}, Rows[0][0]));
  const Expr Called(T, T.call(Mix, {Time, First, First + 1}));
  const ExprCode Code(T, {Called, Time});
  RowEvaluator One(Code);
  ColumnEvaluator Block(Code);
  for (size_t Leaf = 0; Leaf < NumLeaves; ++Leaf)
    if (const auto Slot = Code.findLeaf({Leaves[Leaf]}))
      for (const auto &[I, Row] : llvm::enumerate(Rows))
        Block.leaf(*Slot)[I] = Row[Leaf];
  Block.run(NumRows);
  for (const auto &[I, Row] : llvm::enumerate(Rows)) {
    One.restart();
    for (size_t Leaf = 0; Leaf < NumLeaves; ++Leaf)
      if (const auto Slot = Code.findLeaf({Leaves[Leaf]}))
        One.set(*Slot, Row[Leaf]);
    T.revalue([&, &Of = Row](Key K) {
      return Of[static_cast<size_t>(llvm::find(Leaves, K.Id) - Leaves)];
    });
    const int64_t Want = nanosecondsOf(M.last().Values[I]);
    const int64_t WantCall = applyCall(Mix, {Want, Row[0], Row[0] + 1});
    auto OfBlock = [&, I = I](size_t Result) {
      return Block.exists(I) ? Block.values(Result)[I] : NoValue;
    };
    if (Time.value() != Want || One.value(1) != Want || OfBlock(1) != Want ||
        Called.value() != WantCall || One.value(0) != WantCall ||
        OfBlock(0) != WantCall) {
      llvm::errs() << "row " << I << ": " << Want << ", " << WantCall
                   << ", but " << Time.value() << ", " << Called.value() << ", "
                   << One.value(1) << ", " << One.value(0) << ", " << OfBlock(1)
                   << ", " << OfBlock(0) << '\n';
      return std::nullopt;
    }
  }
  return NumRows;
}

/// usage: check-reals EXPRESSIONS SEED
int main(int Argc, char **Argv) {
  if (Argc != 3)
    return 2;
  std::mt19937_64 Random(std::strtoul(Argv[2], nullptr, 10));
  size_t Values = 0;
  for (int Left = std::atoi(Argv[1]); Left > 0; --Left) {
    const auto Alike = check(Random);
    if (!Alike)
      return 1;
    Values += *Alike;
  }
  llvm::outs() << Values << " values alike\n";
  return 0;
}
