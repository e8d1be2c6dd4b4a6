// SPDX-License-Identifier: Apache-2.0
#include "lang/ShippedLayers.h"
#include "llvm/ADT/STLExtras.h"

namespace foretrace::layers {
// Layers, each preceded by its parts.
#include "lang/ShippedLayers.inc"
} // namespace foretrace::layers

llvm::ArrayRef<foretrace::layers::Layer> foretrace::shippedLayers() {
  return layers::Layers;
}

const foretrace::layers::Layer *
foretrace::findShippedLayer(llvm::StringRef Name) {
  const auto *Found = llvm::find_if(
      layers::Layers, [&](const layers::Layer &L) { return L.Name == Name; });
  return Found == std::end(layers::Layers) ? nullptr : Found;
}

const foretrace::layers::Layer &foretrace::layerOfRole(llvm::StringRef Role) {
  return *llvm::find_if(layers::Layers, [&](const layers::Layer &L) {
    return llvm::is_contained(L.Roles, Role);
  });
}

bool foretrace::isOfBlock(const layers::Layer &L, llvm::StringRef Key) {
  if (&L != &layerOfRole("block"))
    return false;
  return llvm::none_of(
      layerOfRole(L.Roles.front()).Body,
      [&](const layers::Statement &S) { return S.isKey() && S.Name == Key; });
}
