// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Dims.h"
#include "ir/model/Spec.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns the rows of Dims.def.
static llvm::ArrayRef<DimInfo> shippedDims() {
  static const std::vector<DimInfo> Rows = [] {
    constexpr Axis Tp = Axis::Tp, Cp = Axis::Cp, Dp = Axis::Dp, Etp = Axis::Etp,
                   Ep = Axis::Ep, Edp = Axis::Edp,
                   DpReplicate = Axis::DpReplicate;
    auto axes = [](auto... Axes) { return AxisList{Axes...}; };
    return std::vector<DimInfo>{
#define DIM(ENUMERATOR, SPELLING, ROLE, PARAM, ACTIVATION, DOC)                \
  {SPELLING, DimRole::ROLE, axes PARAM, axes ACTIVATION},
#include "ir/model/Dims.def"
    };
  }();
  return Rows;
}

const DimInfo &ir::infoOf(const Spec &S, DimKind K) {
  const size_t I = static_cast<size_t>(K), Shipped = shippedDims().size();
  return I < Shipped ? shippedDims()[I] : S.Dims[I - Shipped];
}

std::optional<DimKind> ir::findDim(const Spec &S, llvm::StringRef Name) {
  const size_t All = shippedDims().size() + S.Dims.size();
  for (size_t I = 0; I != All; ++I)
    if (const auto Kind = static_cast<DimKind>(I); infoOf(S, Kind).Name == Name)
      return Kind;
  return std::nullopt;
}

std::vector<llvm::StringRef> ir::dimNames(const Spec &S) {
  std::vector<llvm::StringRef> Names;
  for (const llvm::ArrayRef<DimInfo> Rows :
       {shippedDims(), llvm::ArrayRef<DimInfo>(S.Dims)})
    for (const DimInfo &D : Rows)
      Names.push_back(D.Name);
  return Names;
}

DimInfo ir::declaredDim(llvm::StringRef Name, AxisList Axes) {
  AxisList OfParam = Axes;
  llvm::erase(OfParam, Axis::Cp);
  return {Name.str(), Axes.empty() ? DimRole::Stream : DimRole::Channels,
          OfParam, Axes};
}

bool ir::isOfReplica(DimKind K) {
  return K == DimKind::Batch || K == DimKind::Slots;
}
