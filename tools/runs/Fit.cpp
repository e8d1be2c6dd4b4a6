// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/Fit.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <map>

using namespace foretrace;
using namespace foretrace::runs;

double foretrace::runs::median(std::vector<double> Values) {
  if (Values.empty())
    return 0;
  auto Middle = Values.begin() + static_cast<ptrdiff_t>(Values.size() / 2);
  std::nth_element(Values.begin(), Middle, Values.end());
  if (Values.size() % 2)
    return *Middle;
  return (*std::max_element(Values.begin(), Middle) + *Middle) / 2;
}

size_t foretrace::runs::commonest(llvm::ArrayRef<size_t> Numbers) {
  std::map<size_t, size_t> Votes;
  for (size_t Number : Numbers)
    ++Votes[Number];
  std::pair<size_t, size_t> Best; // votes, number
  for (auto [Number, Of] : Votes)
    Best = std::max(Best, {Of, Number});
  return Best.second;
}

FittedLine foretrace::runs::fitLine(llvm::ArrayRef<Point> Points) {
  double W = 0, WX = 0, WXX = 0, WY = 0, WXY = 0;
  for (const Point &P : Points) {
    if (P.Y < LeastTime)
      continue;
    const double Weight = 1 / (P.Y * P.Y);
    W += Weight;
    WX += Weight * P.X;
    WXX += Weight * P.X * P.X;
    WY += Weight * P.Y;
    WXY += Weight * P.X * P.Y;
  }
  if (WXX == 0)
    return {W > 0 ? WY / W : 0, 0};
  const FittedLine ThroughOrigin{0, WXY / WXX};
  const double Determinant = W * WXX - WX * WX;
  if (Determinant <= 1e-9 * W * WXX)
    return ThroughOrigin;
  const FittedLine L{(WY * WXX - WX * WXY) / Determinant,
                     (W * WXY - WX * WY) / Determinant};
  if (L.Start < 0)
    return ThroughOrigin;
  return L.Slope < 0 ? FittedLine{WY / W, 0} : L;
}

std::vector<double>
foretrace::runs::solveNonNegative(llvm::ArrayRef<std::vector<double>> A,
                                  llvm::ArrayRef<double> B) {
  constexpr int MaxSweeps = 20000;
  constexpr double Enough = 1e-12; // of the largest value
  std::vector<double> X(A.empty() ? 0 : A.front().size());
  double Largest = 0;
  for (double Value : B)
    Largest = std::max(Largest, std::abs(Value));
  for (int Sweep = 0; Sweep < MaxSweeps; ++Sweep) {
    double Change = 0;
    for (size_t J = 0; J < X.size(); ++J) {
      double Top = 0, Bottom = 0;
      for (size_t I = 0; I < B.size(); ++I) {
        double Rest = B[I];
        for (size_t K = 0; K < X.size(); ++K)
          if (K != J)
            Rest -= A[I][K] * X[K];
        Top += A[I][J] * Rest;
        Bottom += A[I][J] * A[I][J];
      }
      const double Next = Bottom > 0 ? std::max(0.0, Top / Bottom) : 0;
      Change = std::max(Change, std::abs(Next - X[J]));
      X[J] = Next;
    }
    if (Change <= Enough * Largest)
      break;
  }
  return X;
}

size_t foretrace::runs::rankOf(std::vector<std::vector<double>> A) {
  size_t Rank = 0;
  const size_t Columns = A.empty() ? 0 : A.front().size();
  for (size_t J = 0; J < Columns && Rank < A.size(); ++J) {
    size_t Pivot = Rank;
    for (size_t I = Rank; I < A.size(); ++I)
      if (std::abs(A[I][J]) > std::abs(A[Pivot][J]))
        Pivot = I;
    if (std::abs(A[Pivot][J]) < 1e-9)
      continue;
    std::swap(A[Rank], A[Pivot]);
    for (size_t I = Rank + 1; I < A.size(); ++I) {
      const double Factor = A[I][J] / A[Rank][J];
      for (size_t K = J; K < Columns; ++K)
        A[I][K] -= Factor * A[Rank][K];
    }
    ++Rank;
  }
  return Rank;
}
