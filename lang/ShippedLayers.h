// SPDX-License-Identifier: Apache-2.0
//
// The kinds of layers of lang/layers, which the build has compiled.
#ifndef FORETRACE_LANG_SHIPPEDLAYERS_H
#define FORETRACE_LANG_SHIPPEDLAYERS_H

#include "lang/Layers.h"

namespace foretrace {

/// Returns all layers of the library, in the order of their files.
llvm::ArrayRef<layers::Layer> shippedLayers();
/// Returns null if there is none of that name.
const layers::Layer *findShippedLayer(llvm::StringRef Name);

} // namespace foretrace

#endif
