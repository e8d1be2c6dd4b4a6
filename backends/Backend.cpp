// SPDX-License-Identifier: Apache-2.0
#include "backends/Backend.h"

using namespace foretrace;

Emission::~Emission() = default;

std::string EmitRequest::file(llvm::StringRef Named,
                              llvm::StringRef Extension) const {
  return Named.empty() ? (DefaultStem + Extension).str() : Named.str();
}

const EmitOption *Backend::findOption(llvm::StringRef Name) const {
  for (const EmitOption &O : Options())
    if (O.Name == Name)
      return &O;
  return nullptr;
}
