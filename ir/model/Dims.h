// SPDX-License-Identifier: Apache-2.0
//
// Dimensions of tensors: those of Dims.def, and those that a job declares.
#pragma once

#include "ir/model/Mesh.h"
#include <vector>

namespace foretrace::ir {

struct Spec;

/// A row of Dims.def; those that a job declares (Spec::Dims) follow.
enum class DimKind : uint16_t {
#define DIM(ENUMERATOR, SPELLING, ROLE, PARAM, ACTIVATION, DOC) ENUMERATOR,
#include "ir/model/Dims.def"
};

enum class DimRole : unsigned char {
  Tokens,   ///< tokens and samples of the job
  Stream,   ///< channels of which each rank has all. With sequence parallelism
            ///< the tokens beside them are split over tp.
  Channels, ///< others of a layer
  Experts,  ///< of the library's layers of experts
  Ends,     ///< of what comes before and after the layers
  Buffer,   ///< of gradients and parameters
};

/// A dimension, and the axes that split it.
struct DimInfo {
  std::string Name;
  DimRole Role;
  AxisList ParamAxes, ActivationAxes;
};
/// Returns whether a parameter can have the dimension twice: each rank has all
/// of both.
inline bool canRepeat(const DimInfo &Of) { return Of.ParamAxes.empty(); }
/// Returns the row of a dimension, which \p S declares or Dims.def has.
const DimInfo &infoOf(const Spec &S, DimKind K);
/// Returns the dimension of that name, if there is one.
std::optional<DimKind> findDim(const Spec &S, llvm::StringRef Name);
/// Returns the names of all dimensions.
std::vector<llvm::StringRef> dimNames(const Spec &S);
/// Returns the row of a dimension that a job declares. All axes split
/// activations, and all but cp parameters.
DimInfo declaredDim(llvm::StringRef Name, AxisList Axes);
inline constexpr size_t MaxDeclaredDims = 1000;

/// Returns whether the extents of a dimension are those of one data-parallel
/// replica. Each replica then has the same extent.
bool isOfReplica(DimKind K);

} // namespace foretrace::ir
