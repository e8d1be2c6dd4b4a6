// SPDX-License-Identifier: Apache-2.0
#include "passes/BalanceStages.h"
#include "analysis/InFlight.h"
#include "analysis/Liveness.h"
#include "llvm/ADT/STLFunctionalExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// The weight of layers: a constant part, a part for each micro-batch that has
/// not run backward yet, and a part while the last layer runs.
struct Weight {
  int64_t Fixed = 0, PerBatch = 0, Running = 0;
  int64_t with(int64_t Batches) const { return Fixed + PerBatch * Batches; }
  /// Together with \p Next, which come after these: while a layer runs, those
  /// behind it have saved nothing of its micro-batch.
  Weight operator+(const Weight &Next) const {
    return {Fixed + Next.Fixed, PerBatch + Next.PerBatch,
            std::max(Running - Next.PerBatch, Next.Running)};
  }
  /// Returns the weight of \p Count such layers.
  Weight operator*(int64_t Count) const {
    return {Fixed * Count, PerBatch * Count, Count == 0 ? 0 : Running};
  }
};

/// `Times` periods of runs of layers that weigh the same.
struct EqualLayers {
  struct Run {
    Weight Each;
    int64_t Count;
  };
  std::vector<Run> Runs;
  int64_t Times;
  Weight Period;
  int64_t Layers; ///< of one period
};

/// A place in the layers.
struct Position {
  size_t Group = 0;
  int64_t Period = 0;
  size_t Run = 0;
  int64_t InRun = 0;
};

class Balancer {
public:
  explicit Balancer(const Program &P)
      : P(P), Stages(*P.Spec.Parallel.Pp), Layers(P.Spec.Model.layerCount()) {
    for (int64_t Stage = 0; Stage < Stages; ++Stage)
      InFlight.push_back(peakInFlight(P.Schedule, Stage));
  }

  std::optional<std::vector<int64_t>> run();

private:
  std::optional<Weight> weigh(const Block &B) const;
  bool collect();
  int64_t batches(int64_t Stage) const {
    return InFlight[static_cast<size_t>(Stage)];
  }
  /// A stage that is being filled.
  struct Filling {
    int64_t Batches, Limit;
    Weight Layers; ///< the embedding included
    Weight Behind; ///< the head, if it becomes part of it
    /// Returns how often \p Each can be added.
    int64_t room(const Weight &Each) const;
  };
  int64_t take(Position &At, int64_t Stage, int64_t Limit, int64_t Most) const;
  int64_t takeRuns(Position &At, Filling &F, int64_t Most) const;
  Position at(int64_t Layer) const;
  bool fits(int64_t First, int64_t Stage, int64_t Limit) const;
  std::optional<int64_t> earliest(int64_t First, int64_t Stage,
                                  int64_t Limit) const;
  int64_t leastLimit(int64_t First, int64_t Stage, int64_t Enough) const;

  const Program &P;
  const int64_t Stages;
  /// Micro-batches that each stage has on their way at most.
  std::vector<int64_t> InFlight;
  const int64_t Layers;
  std::vector<EqualLayers> Groups;
  Weight Embedding, Head;
  int64_t Total = 0; ///< as much as one stage could weigh
};

} // namespace

/// Returns how much more a layer of \p B needs while it runs than it saves;
/// zero if it is beyond 2^63, which later passes report.
static int64_t runningOf(const Program &Of, const Block &B) {
  ExprOverlay P(Of);
  const Liveness Layer(P, B);
  const Bytes Kept = P->Sizes.value(B.Totals.Kept);
  int64_t Most = 0;
  for (const Phase Part : {Phase::Forward, Phase::Backward})
    if (const Expr Live = Layer.most(Part).Live; Live.hasValue())
      Most = std::max(Most, Live.value() - Kept.value());
  return Most;
}

/// Returns the weight of a layer of \p B; nothing if it overflows.
std::optional<Weight> Balancer::weigh(const Block &B) const {
  auto Known = [](auto Fixed, Bytes PerBatch) -> std::optional<Weight> {
    if (Fixed.isOverflow() || PerBatch.isOverflow())
      return std::nullopt;
    return Weight{Fixed.value(), PerBatch.value()};
  };
  const BlockTotals &Of = B.Totals;
  auto Value = [&](auto Size) { return P.Sizes.value(Size); };
  switch (*P.Spec.Parallel.Balance) {
  case BalanceKind::Parameters:
    return Known(Value(Of.Parameters), Bytes());
  case BalanceKind::Work:
    return Known(Value(Of.Work), Bytes());
  case BalanceKind::Memory: {
    std::optional<Weight> W =
        Known(Value(Of.Weights) + Value(Of.Gradients) + Value(Of.Optimizer),
              Value(Of.Kept));
    if (W)
      W->Running = runningOf(P, B);
    return W;
  }
  }
  llvm_unreachable("every balance is handled");
}

/// Weights of all layers; false if they overflow.
bool Balancer::collect() {
  std::vector<Weight> Weights;
  for (const Block &B : P.Blocks) {
    std::optional<Weight> W = weigh(B);
    if (!W)
      return false;
    Weights.push_back(*W);
  }
  using Sum = Quantity<struct WeightUnit>;
  Sum All;
  for (size_t I = 0; I < P.Layers.size(); ++I) {
    EqualLayers G;
    G.Times = P.Layers[I].Periods;
    G.Layers = 0;
    Sum Fixed, PerBatch;
    for (const BlockRun &R : P.Layers[I].Runs) {
      const Weight &Each = Weights[R.Block.Index];
      G.Runs.push_back({Each, R.Count});
      Fixed += Sum(Each.Fixed) * R.Count;
      PerBatch += Sum(Each.PerBatch) * R.Count;
      All += Sum(Each.Running); // enough for whichever runs
      G.Layers += R.Count;
    }
    All += (Fixed + PerBatch * batches(0)) * G.Times;
    if (All.isOverflow())
      return false;
    for (const EqualLayers::Run &R : G.Runs)
      G.Period = G.Period + R.Each * R.Count;
    if (I == 0)
      Embedding = G.Period;
    else if (I + static_cast<size_t>(P.Spec.Model.blocksAtEnd()) >=
             P.Layers.size())
      Head = Head + G.Period;
    else
      Groups.push_back(std::move(G));
  }
  Total = All.value();
  return true;
}

/// Returns how often \p Each fits into \p Room; without limit if it is zero.
static int64_t timesIn(int64_t Room, int64_t Each) {
  if (Room < 0)
    return 0;
  return Each > 0 ? Room / Each : INT64_MAX;
}

/// The peak is while the last of them runs, or while the layer does that needed
/// most so far, or the one behind them.
int64_t Balancer::Filling::room(const Weight &Each) const {
  const int64_t Room = Limit - Layers.with(Batches) - Behind.with(Batches);
  const int64_t Sum = Each.with(Batches);
  return std::min(
      {timesIn(Room - Each.Running + Behind.PerBatch, Sum),
       timesIn(Room - Layers.Running + Behind.PerBatch, Sum - Each.PerBatch),
       timesIn(Room - Behind.Running, Sum)});
}

/// Takes layers up to the end of the period that fit, at most \p Most.
int64_t Balancer::takeRuns(Position &At, Filling &F, int64_t Most) const {
  const EqualLayers &G = Groups[At.Group];
  int64_t Taken = 0;
  while (At.Run < G.Runs.size()) {
    const EqualLayers::Run &R = G.Runs[At.Run];
    const int64_t Count =
        std::min({R.Count - At.InRun, Most - Taken, F.room(R.Each)});
    Taken += Count;
    F.Layers = F.Layers + R.Each * Count;
    At.InRun += Count;
    if (At.InRun < R.Count)
      return Taken;
    At.InRun = 0;
    ++At.Run;
  }
  At.Run = 0;
  ++At.Period;
  return Taken;
}

/// Takes as many layers as fit into \p Limit on a stage, at most \p Most. Takes
/// whole periods at once, so that the work depends on the number of different
/// layers only.
int64_t Balancer::take(Position &At, int64_t Stage, int64_t Limit,
                       int64_t Most) const {
  Filling F{batches(Stage), Limit, Stage == 0 ? Embedding : Weight(),
            Stage + 1 == Stages ? Head : Weight()};
  int64_t Taken = 0;
  while (At.Group < Groups.size() && Taken < Most) {
    const EqualLayers &G = Groups[At.Group];
    if (At.Run == 0 && At.InRun == 0) {
      const int64_t Periods = std::min(
          {G.Times - At.Period, (Most - Taken) / G.Layers, F.room(G.Period)});
      At.Period += Periods;
      F.Layers = F.Layers + G.Period * Periods;
      Taken += Periods * G.Layers;
    }
    if (At.Period < G.Times) {
      const int64_t Period = At.Period;
      Taken += takeRuns(At, F, Most - Taken);
      if (At.Period == Period)
        return Taken; // no room for the next layer
    }
    if (At.Period == G.Times)
      At = {At.Group + 1};
  }
  return Taken;
}

Position Balancer::at(int64_t Layer) const {
  Position At;
  for (; At.Group < Groups.size(); ++At.Group) {
    const EqualLayers &G = Groups[At.Group];
    if (Layer >= G.Layers * G.Times) {
      Layer -= G.Layers * G.Times;
      continue;
    }
    At.Period = Layer / G.Layers;
    At.InRun = Layer % G.Layers;
    while (At.InRun >= G.Runs[At.Run].Count)
      At.InRun -= G.Runs[At.Run++].Count;
    break;
  }
  return At;
}

/// The least number from \p Low to \p High for which \p Holds, as it does for
/// \p High and all above. It is looked for from \p Guess on, in steps that
/// grow.
static int64_t leastOf(int64_t Low, int64_t High, int64_t Guess,
                       llvm::function_ref<bool(int64_t)> Holds) {
  for (int64_t At = std::clamp(Guess, Low, High), Step = 1; Low < High;
       Step *= 2) {
    if (Holds(At)) {
      High = At;
      if (At == Low || Low > Guess)
        break;
      At = std::max(Low, At - Step);
    } else {
      Low = At + 1;
      if (High <= Guess)
        break;
      At = std::min(High, At + Step);
    }
  }
  while (Low < High) {
    const int64_t Middle = Low + (High - Low) / 2;
    if (Holds(Middle))
      High = Middle;
    else
      Low = Middle + 1;
  }
  return High;
}

/// The earliest layer, not before \p First, from which all fit into the stages
/// from \p Stage on, each with a layer and no heavier than \p Limit; nothing if
/// there is none. From the last stage on, each takes as many as fit: a stage
/// has no more micro-batches on their way than those before it, so a layer that
/// fits there fits here.
std::optional<int64_t> Balancer::earliest(int64_t First, int64_t Stage,
                                          int64_t Limit) const {
  int64_t End = Layers, Before = 1; // layers of the next stage
  for (int64_t S = Stages - 1; S >= Stage; --S) {
    auto Fits = [&](int64_t From) {
      Position At = at(From);
      return take(At, S, Limit, End - From) == End - From;
    };
    const int64_t Least = First + (S - Stage);
    if (Least >= End || !Fits(End - 1))
      return std::nullopt;
    const int64_t Start = leastOf(Least, End - 1, End - Before, Fits);
    Before = End - Start;
    End = Start;
  }
  return End;
}

/// Returns whether the layers from \p First on fit into the stages from
/// \p Stage on: each stage has a layer and at most the weight \p Limit. If a
/// layer weighs the same on every stage, the first stages take as many as fit.
bool Balancer::fits(int64_t First, int64_t Stage, int64_t Limit) const {
  if (*P.Spec.Parallel.Balance == BalanceKind::Memory)
    return earliest(First, Stage, Limit) == First;
  Position At = at(First);
  int64_t Left = Layers - First;
  for (; Stage < Stages; ++Stage) {
    const int64_t Taken = take(At, Stage, Limit, Left - (Stages - 1 - Stage));
    if (Taken == 0)
      return false;
    Left -= Taken;
  }
  return Left == 0;
}

/// Returns the least limit with which the layers from \p First on fit from
/// \p Stage on; \p Enough is one that works. Most stages have nearly the limit
/// of the one before, so the search begins there with growing steps.
int64_t Balancer::leastLimit(int64_t First, int64_t Stage,
                             int64_t Enough) const {
  return leastOf(0, Enough, Enough - 1,
                 [&](int64_t Limit) { return fits(First, Stage, Limit); });
}

/// Stage by stage: the least limit that all stages left can keep to, and all
/// layers that fit below it, which leaves the least to those that follow, or as
/// few as must be there if those that follow could not keep to it then. They
/// get a limit of their own, since one for all, that of the heaviest stage,
/// would let the first of them fill up and leave the last nearly empty.
std::optional<std::vector<int64_t>> Balancer::run() {
  if (!collect())
    return std::nullopt;
  std::vector<int64_t> Out;
  int64_t First = 0, Limit = Total;
  for (int64_t Stage = 0; Stage < Stages; ++Stage) {
    Limit = leastLimit(First, Stage, Limit);
    Position At = at(First);
    const int64_t Behind = Stages - 1 - Stage;
    int64_t Taken = take(At, Stage, Limit, Layers - First - Behind);
    if (Behind > 0 && !fits(First + Taken, Stage + 1, Limit))
      Taken = *earliest(First + 1, Stage + 1, Limit) - First;
    Out.push_back(Taken);
    First += Taken;
  }
  return Out;
}

std::optional<std::vector<int64_t>>
foretrace::balancedLayers(const Program &P) {
  return Balancer(P).run();
}
