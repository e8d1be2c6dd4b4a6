// SPDX-License-Identifier: Apache-2.0
//
// Pulls nodes out of a Chakra execution trace: messages of protocol buffers,
// each after its length, first a GlobalMetadata and then nodes.
#pragma once

#include "backends/chakra/ChakraSchema.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace foretrace::validate {

using chakra::CommType;
using chakra::NodeType;

/// A named value of a node.
struct ChakraAttribute {
  enum class Form : unsigned char { None, Integer, Real, Text, List };

  llvm::StringRef Name;
  Form Is = Form::None;
  bool IsNegative = false; ///< an integer below 0
  uint64_t Integer = 0;    ///< of two's complement if below 0
  double Real = 0;
  llvm::StringRef Text; ///< of a string or of bytes
};

/// A node, with what is of the bytes that are read.
struct ChakraNode {
  uint64_t Id = 0;
  llvm::StringRef Name;
  NodeType Type = NodeType::Invalid;
  llvm::SmallVector<uint64_t, 4> CtrlDeps, DataDeps; ///< ids
  uint64_t DurationMicros = 0;
  llvm::SmallVector<ChakraAttribute, 8> Attributes;
};

/// Reads the bytes of a file, which outlive it, message by message.
class ChakraReader {
public:
  enum class Status : unsigned char {
    Node,
    End,       ///< of the file
    Truncated, ///< the last message is cut off
    Malformed, ///< not a Node; why() says how
  };

  /// Reads the first message, if it is a GlobalMetadata.
  explicit ChakraReader(llvm::StringRef Bytes);

  bool hasMetadata() const { return HasMetadata; }
  /// The schema's version that the GlobalMetadata states, if it does.
  std::optional<llvm::StringRef> version() const { return Version; }

  /// Reads on. Anything but a Node is the last that is read.
  Status next();
  /// The node last read, until the next call.
  const ChakraNode &node() const { return Node; }
  /// The number of the message last read, from 1, the GlobalMetadata included.
  int64_t message() const { return Message; }
  llvm::StringRef why() const { return Why; }

private:
  /// Takes the message at \p At and moves behind it; false if it is incomplete.
  bool takeMessage(llvm::StringRef &Body);

  llvm::StringRef Rest;
  std::optional<llvm::StringRef> Version;
  ChakraNode Node;
  std::string Why;
  int64_t Message = 0;
  bool HasMetadata = false;
};

} // namespace foretrace::validate
