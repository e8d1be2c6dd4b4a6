// SPDX-License-Identifier: Apache-2.0
//
// The kinds of layers of lang/layers, which the build has compiled.
#pragma once

#include "lang/Layers.h"

namespace foretrace {

/// Returns all layers of the library, in the order of their files.
llvm::ArrayRef<layers::Layer> shippedLayers();
/// Returns null if there is none of that name.
const layers::Layer *findShippedLayer(llvm::StringRef Name);
/// Returns the layer that a section \p Role without a name is, or that blocks
/// with keys of their own have (`block`).
const layers::Layer &layerOfRole(llvm::StringRef Role);
/// Returns whether jobs set a key of \p L in the block rather than in the
/// section of the layer: those that the layer of unnamed sections does not
/// have.
bool isOfBlock(const layers::Layer &L, llvm::StringRef Key);

} // namespace foretrace
