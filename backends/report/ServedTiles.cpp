// SPDX-License-Identifier: Apache-2.0
//
// Tiles of a job that serves.
#include "backends/report/Tiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::report;

/// The memory of the device of the stage with the least room for blocks.
Tile TileMaker::cacheRoom() const {
  Tile Of{"room", "Device memory", "memory"};
  const std::optional<TileNumber> Device = find("memory", "device_memory");
  if (!Device)
    return refused(std::move(Of), "memory");
  const FigureTable &T = *answer("memory").Of->findTable("stages");
  const size_t Pool = T.columnOf("pool");
  const std::vector<Figure> &Row =
      *llvm::min_element(T.Rows, [&](const auto &A, const auto &B) {
        return A[Pool].number() < B[Pool].number();
      });
  const std::optional<TileNumber> Sequences = find("memory", "sequences");
  Of.IsGood = Sequences && Sequences->Of.number() > 0;
  Of.Headline = {std::string(*Of.IsGood ? "Fits" : "Does not fit")};
  Of.Detail = {TileNumber{Row[Pool], FigureUnit::Bytes, Device->Sizes},
               " for the cache on stage " + exact(Row[0])};
  if (!*Of.IsGood)
    Of.Reason = {
        "No sequence of input + output tokens fits beside the weights"};
  Of.Terms = {{"device memory", *Device}};
  addParts(Row, Of);
  return Of;
}

/// The sequences that fit, judged by those that come at a time.
Tile TileMaker::sequences() const {
  Tile Of{"sequences", "Sequences that fit", "memory"};
  const std::optional<TileNumber> Fit = find("memory", "sequences");
  if (!Fit)
    return refused(std::move(Of), "memory");
  const int64_t Requests = *P.Spec.Requests->Concurrency,
                Replicas = *P.Spec.Serve->Replicas * *P.Spec.Parallel.Dp;
  Of.Headline = {*Fit};
  Of.Detail = {"of input + output tokens, in each replica of attention"};
  judge(Of,
        FigureLimit{FigureLimit::Bound::AtLeast,
                    (Requests + Replicas - 1) / Replicas,
                    llvm::formatv("{0} requests at a time for {1} replicas",
                                  Requests, Replicas)},
        *Fit);
  Of.Terms = {{"sequences that fit", *Fit}};
  return Of;
}

/// The cache of a replica, in blocks and in tokens of layers that keep all.
Tile TileMaker::cache() const {
  Tile Of{"cache", "Cache of a replica", "memory"};
  const std::optional<TileNumber> Blocks = find("memory", "kv_blocks"),
                                  Tokens = find("memory", "kv_tokens");
  if (!Blocks)
    return refused(std::move(Of), "memory");
  Of.Headline = {Tokens ? *Tokens : *Blocks,
                 std::string(Tokens ? " tokens" : " blocks")};
  Of.Terms = {{"blocks", *Blocks}};
  if (Tokens) {
    Of.Detail = {*Blocks, std::string(" blocks of "),
                 *find("memory", "kv_block"), std::string(" tokens")};
    Of.Terms.push_back({"tokens", *Tokens});
  }
  return Of;
}
