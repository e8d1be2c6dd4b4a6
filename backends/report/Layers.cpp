// SPDX-License-Identifier: Apache-2.0
#include "backends/report/Parts.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Writes `{"times": 4, "runs": [["dense", 3], ["moe", 1]]}`.
static void writeGroup(const Program &P, const LayerGroup &G,
                       llvm::json::OStream &J) {
  J.object([&] {
    J.attribute("times", G.Periods);
    J.attributeArray("runs", [&] {
      for (const BlockRun &R : G.Runs)
        J.array([&] {
          J.value(P.Blocks[R.Block].Name);
          J.value(R.Count);
        });
    });
  });
}

void report::writeLayers(const Program &P, llvm::json::OStream &J) {
  J.attributeArray("layers", [&] {
    for (const Stage &S : P.Stages)
      J.array([&] {
        for (const ChunkRun &C : S.Chunks)
          J.array([&] {
            for (const LayerGroup &G : C.Layers)
              writeGroup(P, G, J);
          });
      });
  });
}
