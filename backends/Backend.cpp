// SPDX-License-Identifier: Apache-2.0
#include "backends/Backend.h"
#include "backends/Figures.h"

using namespace foretrace;

Emission::~Emission() = default;

std::optional<Figures> Emission::figures(const EmitRequest &) const {
  return std::nullopt;
}

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
