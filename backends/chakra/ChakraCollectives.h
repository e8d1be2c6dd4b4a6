// SPDX-License-Identifier: Apache-2.0
//
// Collectives as Chakra's schema has them, and what their sizes mean to
// ASTRA-sim: for who writes traces, and for who writes what runs them.
#pragma once

#include "backends/chakra/ChakraSchema.h"
#include "ir/model/Program.h"

namespace foretrace {

/// A row of ChakraCollectives.def.
struct ChakraCollective {
  ir::OpKind Kind;
  ir::OpKind As; ///< the kind that is written for it
  chakra::CommType Type;
  bool HasShares; ///< a rank's input is a share of the message
};
/// Returns the row of a collective; null for rings, which are messages.
const ChakraCollective *findChakraCollective(ir::OpKind K);

/// `comm_size` of a collective of \p Message, by ir::messageBytes, among
/// \p Ranks: bytes of a rank's input.
int64_t inputBytes(const ChakraCollective &C, Bytes Message, int64_t Ranks);

} // namespace foretrace
