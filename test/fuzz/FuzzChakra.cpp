// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the trace of one of two ranks: whatever is read is checked,
// ordered and replayed against itself.
#include "tools/validate/ChakraNodeCheck.h"
#include "tools/validate/ChakraRank.h"
#include "tools/validate/ChakraReplay.h"
#include <cstdlib>

using namespace foretrace::validate;

/// The graph of the nodes in \p Bytes, on \p Rank.
static std::unique_ptr<const ChakraGraph> readGraph(llvm::StringRef Bytes,
                                                    uint32_t Rank,
                                                    const ChakraGroups &Groups,
                                                    Findings &Out) {
  auto Graph = std::make_unique<ChakraGraph>();
  ChakraReader Reader(Bytes);
  while (Reader.next() == ChakraReader::Status::Node) {
    ChakraWork Work;
    Graph->add(checkNode(Reader.node(), Rank, Groups, {}, Out, Work),
               Reader.node());
  }
  Graph->finish("trace", Out);
  return Graph;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const llvm::StringRef Bytes(reinterpret_cast<const char *>(Data), Size);
  Findings Out;
  ChakraGroups Groups(2);
  Groups.read(Bytes, "groups", Out);
  std::unique_ptr<const ChakraGraph> Graphs[] = {
      readGraph(Bytes, 0, Groups, Out), readGraph(Bytes, 1, Groups, Out)};
  for (const auto &G : Graphs) {
    checkOrder(*G, Groups, "trace", Out);
    if (sequencesOf(*G).size() > Groups.all().size())
      std::abort();
  }
  replayChakra(Graphs, ChakraSet(), Groups, Out);
  Out.show(*foretrace::makeTextClient(llvm::nulls()));
  return 0;
}
