// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Boundary.h"
#include "ir/model/Measure.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

static const LayerSequence &layersOf(const Program &P, int64_t Part) {
  const Schedule::Place At = P.Schedule.placeOf(Part);
  return llvm::partition_point(
             P.Stages,
             [&](const Stage &S) { return S.First + S.Count <= At.Stage; })
      ->layersOf(At.Chunk);
}

/// Returns the values of a message. Its id is twice the index of the block that
/// sends it forward, or one more for the gradients that come back.
static auto valuesIn(const Program &P, BoundaryId Boundary) {
  const Block &Sender = P.Blocks[BlockId(Boundary.Index / 2)];
  const Signature &S = Sender.Signature;
  return llvm::map_range(Boundary.Index % 2 ? S.OutputGradients : S.Outputs,
                         [&Sender](ValueId V) { return &Sender.Values[V]; });
}

static bool areAlike(const Program &P, BoundaryId A, BoundaryId B) {
  return llvm::equal(valuesIn(P, A), valuesIn(P, B),
                     [](const Value *L, const Value *R) {
                       return L->Type.Element == R->Type.Element &&
                              L->OnRank.Id == R->OnRank.Id;
                     });
}

BoundaryId foretrace::ir::boundaryAfter(const Program &P, int64_t Part,
                                        bool IsForward) {
  // A part without layers passes on what it receives.
  while (Part > 0 && layersOf(P, Part).empty())
    --Part;
  const LayerSequence &Layers = layersOf(P, Part);
  const unsigned Last =
      Layers.empty() ? 0 : Layers.back().Runs.back().Block.Index;
  const BoundaryId Own(2 * Last + !IsForward);
  BoundaryId First(0);
  while (First != Own && !areAlike(P, First, Own))
    ++First.Index;
  return First;
}

std::vector<const Value *> foretrace::ir::valuesOf(const Program &P,
                                                   BoundaryId Boundary) {
  const auto Values = valuesIn(P, Boundary);
  return {Values.begin(), Values.end()};
}

Expr foretrace::ir::boundarySize(ExprScope P, BoundaryId Boundary) {
  Expr Sum = numberOf(P, 0);
  for (const Value *V : valuesIn(P, Boundary))
    Sum += bytesOnRank(P, *V);
  return Sum;
}

Bytes foretrace::ir::boundaryBytes(const Program &P, BoundaryId Boundary) {
  Bytes Sum;
  for (const Value *V : valuesIn(P, Boundary))
    Sum += bytesPerRank(P, *V);
  return Sum;
}

/// Returns the id of all messages if layers pass nothing but the hidden state,
/// so that these can be counted before there are blocks.
static std::optional<BoundaryId> onlyBoundary(const Program &P) {
  if (llvm::any_of(P.Spec.Model.Blocks,
                   [](const BlockSpec &B) { return !B.Passes.empty(); }))
    return std::nullopt;
  return BoundaryId(
      P.Layers.empty() ? 0 : 2 * P.Layers.front().Runs.front().Block.Index);
}

llvm::SmallVector<StageMessages, 2> foretrace::ir::messagesOf(const Program &P,
                                                              int64_t Stage) {
  const std::optional<BoundaryId> Only = onlyBoundary(P);
  llvm::SmallVector<StageMessages, 2> Sent;
  for (int64_t Chunk = 0; Chunk < P.Schedule.Chunks; ++Chunk)
    for (const bool IsNext : {true, false}) {
      const auto Peer = P.Schedule.neighbour(Stage, Chunk, IsNext);
      if (!Peer || *Peer == Stage || (!IsNext && P.Spec.Serve))
        continue;
      const int64_t Part = P.Schedule.partOf(Stage, Chunk) - !IsNext;
      const StageMessages New = {
          *Peer - Stage, Only ? *Only : boundaryAfter(P, Part, IsNext), 1};
      const auto Place = [](const StageMessages &M) {
        return std::pair(M.Distance, M.Boundary.Index);
      };
      auto *It = llvm::partition_point(
          Sent, [&](const StageMessages &M) { return Place(M) < Place(New); });
      if (It == Sent.end() || Place(*It) != Place(New))
        Sent.insert(It, New);
      else
        ++It->Count;
    }
  return Sent;
}
