// SPDX-License-Identifier: Apache-2.0
#include "backends/chakra/ChakraCollectives.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

const ChakraCollective *foretrace::findChakraCollective(OpKind K) {
  constexpr bool Whole = false, Share = true;
  static constexpr ChakraCollective Rows[] = {
#define CHAKRA_COLLECTIVE(KIND, AS, INPUT)                                     \
  {OpKind::KIND, OpKind::AS, chakra::CommType::AS, INPUT},
#include "backends/chakra/ChakraCollectives.def"
  };
  const auto *Row = llvm::find_if(
      Rows, [&](const ChakraCollective &R) { return R.Kind == K; });
  return Row == std::end(Rows) ? nullptr : Row;
}

int64_t foretrace::inputBytes(const ChakraCollective &C, Bytes Message,
                              int64_t Ranks) {
  if (!C.HasShares)
    return Message.value();
  return static_cast<int64_t>(llvm::divideCeil(
      static_cast<uint64_t>(Message.value()), static_cast<uint64_t>(Ranks)));
}
