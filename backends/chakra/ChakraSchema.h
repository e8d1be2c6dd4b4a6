// SPDX-License-Identifier: Apache-2.0
//
// The numbers and names of Chakra's schema, for writers and readers of traces.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace foretrace::chakra {

enum class NodeType : uint32_t {
#define NODE_TYPE(ENUMERATOR, WORD) ENUMERATOR,
#include "backends/chakra/ChakraSchema.def"
};

/// `COMP_NODE`; the number, if no type has it.
std::string nameOf(NodeType T);

/// CollectiveCommType.
enum class CommType : uint32_t {
#define COMM_TYPE(ENUMERATOR, WORD, STATUS) ENUMERATOR,
#include "backends/chakra/ChakraSchema.def"
};

/// `ALL_REDUCE`; the number, if no collective has it.
std::string nameOf(CommType T);

/// An attribute of nodes that has a meaning to ASTRA-sim.
enum class NodeAttribute : unsigned char {
#define ATTRIBUTE(ENUMERATOR, NAME, FORM, BITS) ENUMERATOR,
#include "backends/chakra/ChakraSchema.def"
};
llvm::StringRef nameOf(NodeAttribute A);

// Fields of the messages GlobalMetadata, Node and AttributeProto.
namespace metadata_field {
enum : uint32_t {
#define METADATA_FIELD(ENUMERATOR, NUMBER) ENUMERATOR = NUMBER,
#include "backends/chakra/ChakraSchema.def"
};
} // namespace metadata_field
namespace node_field {
enum : uint32_t {
#define NODE_FIELD(ENUMERATOR, NUMBER) ENUMERATOR = NUMBER,
#include "backends/chakra/ChakraSchema.def"
};
} // namespace node_field
namespace value_field {
enum : uint32_t {
#define VALUE_FIELD(ENUMERATOR, NUMBER) ENUMERATOR = NUMBER,
#include "backends/chakra/ChakraSchema.def"
};
} // namespace value_field

} // namespace foretrace::chakra
