// SPDX-License-Identifier: Apache-2.0
//
// The one palette of pictures and pages.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace {

struct Colour {
  llvm::StringLiteral Name, Light, Dark;
};

namespace palette {
#define COLOUR(ENUMERATOR, NAME, LIGHT, DARK, MEANING)                         \
  inline constexpr Colour ENUMERATOR = {NAME, LIGHT, DARK};
#include "backends/Palette.def"
} // namespace palette

/// Writes all colours as custom properties of CSS, for both themes: that of the
/// system, or `data-theme` of the page.
void writePalette(llvm::raw_ostream &OS);

} // namespace foretrace
