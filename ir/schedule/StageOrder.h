// SPDX-License-Identifier: Apache-2.0
//
// Order of the actions of a stage: whatever an action reads has been computed
// or received, and nothing is done twice or omitted. Private to the IR.
#pragma once

#include "ir/model/Schedule.h"

namespace foretrace::ir {

/// The actions that a stage has executed so far.
class StageOrder {
public:
  StageOrder(const Schedule &S, int64_t Stage);

  /// Executes \p A. Returns what is wrong with it, as the end of a sentence
  /// about it; empty if nothing is.
  llvm::StringRef take(const Action &A);

  /// Returns an action that is missing at the end.
  std::optional<Action> missing() const;

private:
  /// State of a micro-batch and chunk.
  enum Done : unsigned char {
    ReceivedForward = 1,
    Forward = 2,
    SentForward = 4,
    ReceivedBackward = 8,
    BackwardInput = 16,
    BackwardWeight = 32,
    SentBackward = 64,
  };
  /// The neighbour of a chunk.
  struct Link {
    bool IsEnd;                  ///< of the model: there is nothing
    std::optional<int64_t> Own;  ///< the chunk of this stage there
    std::optional<int64_t> Peer; ///< the other stage, if not this one
  };

  Link linkOf(int64_t Chunk, bool IsNext) const;
  unsigned char &of(const Action &A) {
    return State[index(A.Chunk, A.MicroBatch)];
  }
  bool has(int64_t Chunk, int64_t MicroBatch, Done What) const {
    return (State[index(Chunk, MicroBatch)] & What) != 0;
  }
  size_t index(int64_t Chunk, int64_t MicroBatch) const {
    return static_cast<size_t>(Chunk * S.MicroBatches + MicroBatch);
  }
  bool isThere(const Link &At, const Action &A, Done Made, Done Received) const;
  llvm::StringRef compute(const Action &A);
  llvm::StringRef message(const Action &A);
  llvm::StringRef finalize(const Action &A);
  unsigned char expected(int64_t Chunk) const;
  std::optional<Action> firstMissing() const;

  const Schedule &S;
  const int64_t Stage;
  std::vector<Link> Next, Last; ///< by chunk
  std::vector<unsigned char> State;
  bool IsReduced = false, HasStepped = false;
};

} // namespace foretrace::ir
