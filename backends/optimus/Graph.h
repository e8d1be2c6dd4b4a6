// SPDX-License-Identifier: Apache-2.0
//
// A model as torch.fx traces it for Optimus-Prime: calls of leaf modules and
// the values between them, in order of execution.
#pragma once

#include "ir/model/Spec.h"
#include "lang/Quantity.h"
#include <optional>

namespace foretrace::optimus {

enum class Family : unsigned char {
#define FAMILY(ENUMERATOR, ...) ENUMERATOR,
#include "backends/optimus/Families.def"
};
inline constexpr llvm::StringRef FamilyNames[] = {
#define FAMILY(ENUMERATOR, NAME, ...) NAME,
#include "backends/optimus/Families.def"
};
inline llvm::StringRef getName(Family F) {
  return FamilyNames[static_cast<size_t>(F)];
}
/// The model's class in transformers.
llvm::StringRef getClass(Family F);
/// Returns the family that fits a model; nothing if none does.
std::optional<Family> familyOf(const ir::ModelSpec &M);

/// Shape of a value; B is the micro-batch, S the length of its samples.
enum class ShapeKind : unsigned char {
  Tokens,  ///< [B, S, width]
  Mask,    ///< [B, 1, S, S + 1]
  Rope,    ///< [1, S, head dimension]
  Integer, ///< no tensor
};

struct GraphValue {
  std::string Node; ///< of the fx graph; "?" if its number is not known
  std::string Path; ///< path of the module, or the kind of node
  ShapeKind Shape;
  int64_t Width = 0;

  /// Elements for a micro-batch of \p Batch samples of \p Sequence tokens.
  Elements elements(int64_t Batch, int64_t Sequence) const;
};

/// A node that makes a value, or more than one step of the model's code.
struct Step {
  bool IsModule;
  std::vector<unsigned> Arguments; ///< values, in order
  unsigned Result;
  int64_t Layer; ///< -1 outside of layers
  /// Parameters of the module and of the non-leaf modules before it.
  int64_t Parameters;
};

struct Graph {
  std::vector<GraphValue> Values; ///< the first is the input
  std::vector<Step> Steps;
  int64_t Modules = 0;
  /// Parameters of the model, a tied embedding once, and of a layer.
  int64_t Parameters = 0, LayerParameters = 0;
  bool IsOverflow = false; ///< parameters don't fit

  /// Unfolds \p M; it has no more than MaxParts parts.
  Graph(const ir::ModelSpec &M, Family F);
  static constexpr int64_t MaxParts = 1 << 16;
  /// Layers, and experts of all layers.
  static Quantity<struct PartUnit> countParts(const ir::ModelSpec &M);
};

/// All nodes of the fx graph; nothing where that is not known for \p Version of
/// transformers.
std::optional<int64_t> graphLength(Family F, llvm::StringRef Version,
                                   int64_t Layers);

} // namespace foretrace::optimus
