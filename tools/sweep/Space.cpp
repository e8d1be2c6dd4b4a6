// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Space.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace foretrace::sweep {

Expected<Space> Space::make(SweepSpec Spec) {
  Space S;
  S.Strides.resize(Spec.Axes.size());
  for (size_t I = Spec.Axes.size(); I-- > 0;) {
    S.Strides[I] = S.Size;
    if (MulOverflow(S.Size, static_cast<int64_t>(Spec.Axes[I].size()), S.Size))
      return createStringError("sweep: there are 2^63 points or more");
  }
  S.Spec = std::move(Spec);
  return S;
}

void appendOverrides(const SweepSpec::Axis &A, size_t Position,
                     std::vector<std::string> &To) {
  for (const SweepSpec::Key &K : A.Keys)
    To.push_back(K.Name + "=" + K.Values[Position]);
}

std::vector<std::string> Space::overridesOf(int64_t Point) const {
  std::vector<std::string> Overrides;
  for (size_t I = 0; I < axes().size(); ++I)
    appendOverrides(axes()[I], indexAt(Point, I), Overrides);
  return Overrides;
}

} // namespace foretrace::sweep
