// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Plan.h"
#include "ir/SpecKeys.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace foretrace::sweep {

/// The key of an axis that is evaluated in columns. What `derive` holds against
/// a number that it finds itself is part of a structure.
static std::optional<ir::Key> innerKey(StringRef Name) {
  using ir::KeyId;
  const std::optional<ir::Key> K = ir::findNumber(Name);
  if (!K || is_contained(
                {KeyId::ParallelDp, KeyId::ParallelGa, KeyId::ModelPaddedVocab},
                K->Id))
    return std::nullopt;
  return K;
}

/// Nothing if it takes more than numbers to say what the axis is: the frontend
/// reads those.
static std::optional<Step> innerStep(const Axis &A) {
  const std::optional<ir::Key> K = innerKey(A.Name);
  if (!K)
    return std::nullopt;
  Step Inner = {0, *K, {}};
  for (const std::string &Value : A.Values)
    if (int64_t &Number = Inner.Values.emplace_back();
        StringRef(Value).getAsInteger(10, Number) || Number < 1)
      return std::nullopt;
  return Inner;
}

Plan::Plan(const Space &S) {
  std::vector<Step> OfTraining;
  for (const auto &[Index, A] : enumerate(S.axes())) {
    std::optional<Step> Found = innerStep(A);
    if (!Found) {
      Outer.push_back({Index, {}, {}});
      continue;
    }
    Found->Axis = Index;
    // What decides more often stands outside, so that blocks are of one
    // structure.
    const bool IsOfRanks = StringRef(A.Name).starts_with("parallel.");
    (IsOfRanks ? Inner : OfTraining).push_back(std::move(*Found));
  }
  append_range(Inner, OfTraining);
  Spans.resize(Inner.size());
  for (size_t I = Inner.size(); I-- > 0;) {
    Spans[I] = InnerSize;
    InnerSize *= static_cast<int64_t>(Inner[I].Values.size());
  }
}

} // namespace foretrace::sweep
