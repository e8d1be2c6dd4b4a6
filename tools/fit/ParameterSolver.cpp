// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/ParameterSolver.h"
#include "llvm/ADT/STLExtras.h"
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

using namespace llvm;

namespace foretrace::fit {

using Id = ir::KernelParameterId;

namespace {

/// Maps a parameter to an unbounded number: its logarithm, after adding one if
/// it can be 0.
class Scale {
public:
  explicit Scale(Id Of)
      : Info(ir::getInfo(Of)), Added(Info.Least > 0 ? 0 : 1) {}

  double toNumber(double Value) const { return std::log(Value + Added); }
  double toValue(double Number) const {
    constexpr double Largest = 100; // its exponential is still finite
    const double Value = std::exp(std::min(Number, Largest)) - Added;
    return std::clamp(Value, Info.Least, Info.Most);
  }

private:
  const ir::KernelParameterInfo &Info;
  double Added;
};

/// The residuals that Eigen's solver minimizes.
class Residuals {
public:
  // Names and types that the solver expects.
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum {
    InputsAtCompileTime = Eigen::Dynamic,
    ValuesAtCompileTime = Eigen::Dynamic
  };

  Residuals(const ParameterProblem &Of, const LawParameters &Start)
      : Of(Of), Start(Start), From(inputs()) {
    for (const auto &[I, P] : enumerate(Of.Of))
      From[static_cast<int>(I)] = Scale(P).toNumber(Start[P]);
  }

  int inputs() const { return static_cast<int>(Of.Of.size()); }
  int values() const { return static_cast<int>(Of.Weights.size()) + inputs(); }
  const InputType &start() const { return From; }

  LawParameters parametersAt(const InputType &X) const {
    LawParameters With = Start;
    for (const auto &[I, P] : enumerate(Of.Of))
      With.set(P, Scale(P).toValue(X[static_cast<int>(I)]));
    return With;
  }

  int operator()(const InputType &X, ValueType &Out) const {
    std::vector<double> Found(Of.Weights.size());
    Of.Ratios(parametersAt(X), Found);
    int At = 0;
    for (const auto &[Ratio, Weight] : zip_equal(Found, Of.Weights))
      Out[At++] = Weight * std::log(Ratio);
    Out.tail(inputs()) = Of.WeightOfStart * (X - From);
    return 0;
  }

private:
  const ParameterProblem &Of;
  const LawParameters &Start;
  InputType From;
};

} // namespace

/// Returns the solution that the solver finds from \p X, with its cost.
static std::pair<double, Eigen::VectorXd> solveFrom(const Residuals &R,
                                                    Eigen::VectorXd X) {
  // Times that are rounded to nanoseconds need steps that change them.
  constexpr double RelativeStep = 1e-4;
  Eigen::NumericalDiff<Residuals> WithSlopes(R, RelativeStep);
  Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Residuals>> Solver(WithSlopes);
  Solver.minimize(X);
  Eigen::VectorXd Left(R.values());
  R(X, Left);
  return {Left.squaredNorm(), X};
}

LawParameters solve(const ParameterProblem &Problem,
                    const LawParameters &Start) {
  const Residuals R(Problem, Start);
  std::vector<Eigen::VectorXd> Starts = {R.start()};
  for (const auto &[P, Factor] : Problem.Tried) {
    const auto *It = find(Problem.Of, P);
    if (It == Problem.Of.end())
      continue;
    for (size_t I = 0, Count = Starts.size(); I < Count; ++I) {
      Eigen::VectorXd X = Starts[I];
      double &Number = X[It - Problem.Of.begin()];
      if (Number != R.start()[It - Problem.Of.begin()])
        continue; // tried with another factor
      Number = Scale(P).toNumber(Start[P] * Factor);
      Starts.push_back(std::move(X));
    }
  }
  auto Best = solveFrom(R, Starts.front());
  for (const Eigen::VectorXd &X : drop_begin(Starts))
    if (auto Next = solveFrom(R, X); Next.first < Best.first)
      Best = std::move(Next);
  return R.parametersAt(Best.second);
}

} // namespace foretrace::fit
