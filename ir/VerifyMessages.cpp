// SPDX-License-Identifier: Apache-2.0
//
// Runs the stages of a schedule against each other.
#include "ir/VerifyParts.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// A PipelineMessage as a key.
using Message = std::tuple<bool, int64_t, int64_t>;

struct Walk {
  std::vector<Action> Actions;
  size_t At = 0;
  bool Waits = false; ///< its messages are posted
};

class Simulation {
public:
  explicit Simulation(const Schedule &S);

  /// The first action that waits forever, with its stage, if there is one.
  std::optional<std::pair<int64_t, Action>> run();

private:
  std::optional<Message> messageAt(int64_t Stage, const Action &A) const;
  size_t endOfCall(const Walk &W) const;
  bool advance(int64_t Stage);

  const Schedule &S;
  std::vector<Walk> Stages;
  std::map<Message, int> Posted; ///< by how many of the two
};

} // namespace

Simulation::Simulation(const Schedule &S) : S(S) {
  for (int64_t Stage = 0; Stage < S.Stages; ++Stage)
    forEachAction(S, Stage, [&, &W = Stages.emplace_back()](const Action &A) {
      W.Actions.push_back(A);
      return true;
    });
}

std::optional<Message> Simulation::messageAt(int64_t Stage,
                                             const Action &A) const {
  std::optional<PipelineMessage> M = messageOf(S, Stage, A);
  if (!M)
    return std::nullopt;
  return Message{M->IsForward, M->MicroBatch, M->ModelChunk};
}

size_t Simulation::endOfCall(const Walk &W) const {
  size_t End = W.At + 1;
  while (End < W.Actions.size() && W.Actions[End].IsFused)
    ++End;
  return End;
}

/// Takes a stage through its calls until one waits for another stage.
bool Simulation::advance(int64_t Stage) {
  Walk &W = Stages[static_cast<size_t>(Stage)];
  bool HasMoved = false;
  while (W.At < W.Actions.size()) {
    llvm::ArrayRef<Action> Call =
        llvm::ArrayRef(W.Actions).slice(W.At, endOfCall(W) - W.At);
    if (!W.Waits)
      for (const Action &A : Call)
        if (std::optional<Message> M = messageAt(Stage, A)) {
          ++Posted[*M];
          HasMoved = true;
        }
    W.Waits = true;
    if (!llvm::all_of(Call, [&](const Action &A) {
          std::optional<Message> M = messageAt(Stage, A);
          return !M || Posted[*M] == 2;
        }))
      return HasMoved;
    W.At += Call.size();
    W.Waits = false;
    HasMoved = true;
  }
  return HasMoved;
}

std::optional<std::pair<int64_t, Action>> Simulation::run() {
  for (bool HasMoved = true; HasMoved;) {
    HasMoved = false;
    for (int64_t Stage = 0; Stage < S.Stages; ++Stage)
      HasMoved |= advance(Stage);
  }
  for (int64_t Stage = 0; Stage < S.Stages; ++Stage) {
    const Walk &W = Stages[static_cast<size_t>(Stage)];
    for (size_t I = W.At; I < W.Actions.size(); ++I)
      if (std::optional<Message> M = messageAt(Stage, W.Actions[I]);
          M && Posted[*M] != 2)
        return std::pair(Stage, W.Actions[I]);
  }
  return std::nullopt;
}

void foretrace::ir::verifyMessages(const Program &P, DiagnosticEngine &Diags) {
  constexpr int64_t MaxSteps = int64_t(1) << 18; // takes a tenth of a second
  Schedule S = P.Schedule;
  // Micro-batches that go through the chunks together.
  const int64_t Round = std::min(std::max(S.Stages, S.Group), S.microBatches());
  if (S.Stages * S.Chunks > MaxSteps || Round > MaxSteps)
    return;
  // After three rounds a schedule repeats itself, but for a smaller last one.
  S.Steps =
      std::min(S.Steps, (3 * Round + S.microBatches() % Round) * S.Chunks);
  if (S.Stages * S.Steps > MaxSteps)
    return;
  if (auto Stuck = Simulation(S).run())
    Diags.report(P.Spec.Parallel.Pp.Range, diag::VerifyMessages, Stuck->first,
                 getName(Stuck->second.Kind), Stuck->second.MicroBatch,
                 Stuck->second.Chunk);
}
