// SPDX-License-Identifier: Apache-2.0
#include "backends/chakra/ChakraSchema.h"

using namespace foretrace;

std::string chakra::nameOf(NodeType T) {
  static constexpr const char *Names[] = {
#define NODE_TYPE(ENUMERATOR, WORD) WORD,
#include "backends/chakra/ChakraSchema.def"
  };
  const auto I = static_cast<uint32_t>(T);
  return I < std::size(Names) ? Names[I] : std::to_string(I);
}

std::string chakra::nameOf(CommType T) {
  static constexpr const char *Names[] = {
#define COMM_TYPE(ENUMERATOR, WORD, STATUS) WORD,
#include "backends/chakra/ChakraSchema.def"
  };
  const auto I = static_cast<uint32_t>(T);
  return I < std::size(Names) ? Names[I] : std::to_string(I);
}

llvm::StringRef chakra::nameOf(NodeAttribute A) {
  static constexpr llvm::StringLiteral Names[] = {
#define ATTRIBUTE(ENUMERATOR, NAME, FORM, BITS) NAME,
#include "backends/chakra/ChakraSchema.def"
  };
  return Names[static_cast<size_t>(A)];
}
