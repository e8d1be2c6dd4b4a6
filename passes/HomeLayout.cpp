// SPDX-License-Identifier: Apache-2.0
#include "passes/HomeLayout.h"
#include "analysis/Parameters.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

// The names of ir/model/Dims.def.
namespace dims {
constexpr Axis Tp = Axis::Tp;
constexpr Axis Cp = Axis::Cp;
constexpr Axis Dp = Axis::Dp;
constexpr Axis Etp = Axis::Etp;
constexpr Axis Ep = Axis::Ep;
constexpr Axis Edp = Axis::Edp;
constexpr Axis DpReplicate = Axis::DpReplicate;

template <typename... Ts> AxisList axes(Ts... Axes) { return {Axes...}; }

AxisList paramAxes(DimKind K) {
  switch (K) {
#define DIM(ENUMERATOR, SPELLING, PARAM, ACTIVATION, DOC)                      \
  case DimKind::ENUMERATOR:                                                    \
    return axes PARAM;
#include "ir/model/Dims.def"
  }
  llvm_unreachable("covered switch");
}

AxisList activationAxes(DimKind K) {
  switch (K) {
#define DIM(ENUMERATOR, SPELLING, PARAM, ACTIVATION, DOC)                      \
  case DimKind::ENUMERATOR:                                                    \
    return axes ACTIVATION;
#include "ir/model/Dims.def"
  }
  llvm_unreachable("covered switch");
}
} // namespace dims

Layout splitBy(const Mesh &M, const TensorType &T,
               AxisList (*AxesOf)(DimKind)) {
  Layout L;
  for (const auto &[Index, D] : llvm::enumerate(T.Dims))
    for (Axis A : AxesOf(D.Kind))
      if (M[A] > 1)
        L.setSplit(A, static_cast<unsigned>(Index));
  return L;
}

} // namespace

AxisList foretrace::axesOfParam(DimKind K) { return dims::paramAxes(K); }

AxisList foretrace::axesOfActivation(DimKind K) {
  return dims::activationAxes(K);
}

bool foretrace::isOfStream(const TensorType &T) {
  return T.indexOf(DimKind::Hidden) >= 0 || T.indexOf(DimKind::Latent) >= 0;
}

Layout foretrace::paramLayout(const Program &P, const TensorType &T) {
  Layout L = splitBy(P.Mesh, T, dims::paramAxes);
  if (*P.Spec.Parallel.Zero == 3)
    for (Axis A : shareAxes(P, T))
      L.setFlat(A);
  return L;
}

Layout foretrace::homeLayout(const Program &P, const TensorType &T) {
  Layout L = splitBy(P.Mesh, T, dims::activationAxes);
  int Seq = T.indexOf(DimKind::Seq);
  if (*P.Spec.Parallel.SequenceParallel && P.Mesh[Axis::Tp] > 1 && Seq >= 0 &&
      isOfStream(T))
    L.setSplit(Axis::Tp, static_cast<unsigned>(Seq));
  return L;
}

Layout foretrace::dataLayout(const Program &P, const TensorType &T) {
  Layout L = homeLayout(P, T);
  L.setWhole(Axis::Cp);
  if (P.Mesh[Axis::Tp] > 1)
    L.setSingle(Axis::Tp);
  return L;
}
