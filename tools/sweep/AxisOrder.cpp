// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/AxisOrder.h"
#include "ir/model/SpecKeys.h"
#include "llvm/ADT/STLExtras.h"
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

/// The key of an axis that is evaluated in columns. What `derive` holds against
/// a number that it finds itself is part of a structure, and so is how many
/// layers of a chunk differ.
static std::optional<ir::Key> innerKey(StringRef Name) {
  using ir::KeyId;
  const std::optional<ir::Key> K = ir::findNumber(Name);
  if (!K || is_contained(
                {KeyId::ParallelDp, KeyId::ParallelGa, KeyId::ModelPaddedVocab,
                 KeyId::TrainRecomputeNumLayers, KeyId::TrainOffloadNumLayers},
                K->Id))
    return std::nullopt;
  return K;
}

/// Returns the keys of an axis; none if its values are not numbers alone: the
/// frontend reads those.
static std::vector<ir::Key> innerKeys(const SweepSpec::Axis &A) {
  std::vector<ir::Key> Keys;
  for (const SweepSpec::Key &Of : A.Keys) {
    const std::optional<ir::Key> K = innerKey(Of.Name);
    if (!K || !Of.AreCounts ||
        any_of(Of.Numbers, [](int64_t Number) { return Number < 1; }))
      return {};
    Keys.push_back(*K);
  }
  return Keys;
}

AxisOrder::AxisOrder(const Space &S) {
  std::vector<OrderedAxis> OfTraining;
  for (const auto &[Index, A] : enumerate(S.axes())) {
    OrderedAxis Found = {Index, innerKeys(A), A.size()};
    if (Found.Keys.empty()) {
      Outer.push_back(std::move(Found));
      continue;
    }
    // Axes that change the structure more often are outer ones, so that a block
    // has one structure.
    const bool IsOfRanks = any_of(A.Keys, [](const SweepSpec::Key &K) {
      return StringRef(K.Name).starts_with("parallel.");
    });
    (IsOfRanks ? Inner : OfTraining).push_back(std::move(Found));
  }
  append_range(Inner, OfTraining);
  Spans.resize(Inner.size());
  for (size_t I = Inner.size(); I-- > 0;) {
    Spans[I] = InnerSize;
    InnerSize *= static_cast<int64_t>(Inner[I].Size);
  }
}

} // namespace foretrace::sweep
