// SPDX-License-Identifier: Apache-2.0
#include "passes/BalanceStages.h"
#include "passes/Work.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// `Times` periods of runs of layers that weigh the same.
struct Group {
  struct Run {
    int64_t Weight, Count;
  };
  std::vector<Run> Runs;
  int64_t Times, Weight, Layers; ///< of one period: weight and layers
};

/// A place in the layers.
struct Place {
  size_t Group = 0;
  int64_t Period = 0;
  size_t Run = 0;
  int64_t InRun = 0;
};

class Balancer {
public:
  explicit Balancer(const Program &P)
      : P(P), Stages(*P.Spec.Parallel.Pp), Left(P.Spec.Model.layerCount()) {}

  std::optional<std::vector<int64_t>> run();

private:
  std::optional<int64_t> weigh(const Block &B) const;
  bool collect();
  int64_t take(Place &At, int64_t Room, int64_t Most) const;
  int64_t takeRuns(Place &At, int64_t &Room, int64_t Most) const;
  bool fits(Place At, int64_t First, int64_t Layers, int64_t Count,
            int64_t Limit) const;

  const Program &P;
  const int64_t Stages;
  int64_t Left; ///< layers
  std::vector<Group> Groups;
  int64_t Embedding = 0, Head = 0, Total = 0;
};

} // namespace

std::optional<int64_t> Balancer::weigh(const Block &B) const {
  Elements Parameters;
  for (const Value &V : B.Values)
    if (V.Kind == ValueKind::Param)
      Parameters += elementsPerRank(V, P.Mesh);
  Flops Work;
  for (const Op &O : B.Ops)
    Work += workOf(B, O, P.Mesh);
  if (Parameters.isOverflow() || Work.isOverflow())
    return std::nullopt;
  return *P.Spec.Parallel.Balance == BalanceKind::Parameters
             ? Parameters.value()
             : Work.value();
}

/// Weights of all layers; false if they overflow.
bool Balancer::collect() {
  std::vector<int64_t> Weights;
  for (const Block &B : P.Blocks) {
    std::optional<int64_t> W = weigh(B);
    if (!W)
      return false;
    Weights.push_back(*W);
  }
  Quantity<struct WeightUnit> Sum;
  for (size_t I = 0; I < P.Layers.size(); ++I) {
    Group G;
    G.Times = P.Layers[I].Periods;
    Quantity<WeightUnit> Period;
    G.Layers = 0;
    for (const BlockRun &R : P.Layers[I].Runs) {
      const int64_t Weight = Weights[R.Block.Index];
      G.Runs.push_back({Weight, R.Count});
      Period += Quantity<WeightUnit>(Weight) * R.Count;
      G.Layers += R.Count;
    }
    Sum += Period * G.Times;
    if (Sum.isOverflow())
      return false;
    G.Weight = Period.value();
    if (I == 0)
      Embedding = G.Weight;
    else if (I + 1 == P.Layers.size())
      Head = G.Weight;
    else
      Groups.push_back(std::move(G));
  }
  Total = Sum.value();
  return true;
}

/// Layers up to the end of the period that fit into \p Room, \p Most at most.
int64_t Balancer::takeRuns(Place &At, int64_t &Room, int64_t Most) const {
  const Group &G = Groups[At.Group];
  int64_t Taken = 0;
  while (At.Run < G.Runs.size()) {
    const Group::Run &R = G.Runs[At.Run];
    int64_t Count = std::min(R.Count - At.InRun, Most - Taken);
    if (R.Weight > 0)
      Count = std::min(Count, Room / R.Weight);
    Taken += Count;
    Room -= Count * R.Weight;
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

/// As many layers as fit into \p Room, \p Most at most.
int64_t Balancer::take(Place &At, int64_t Room, int64_t Most) const {
  int64_t Taken = 0;
  while (At.Group < Groups.size() && Taken < Most) {
    const Group &G = Groups[At.Group];
    if (At.Run == 0 && At.InRun == 0) {
      int64_t Periods =
          std::min(G.Times - At.Period, (Most - Taken) / G.Layers);
      if (G.Weight > 0)
        Periods = std::min(Periods, Room / G.Weight);
      At.Period += Periods;
      Room -= Periods * G.Weight;
      Taken += Periods * G.Layers;
    }
    if (At.Period < G.Times) {
      const int64_t Period = At.Period;
      Taken += takeRuns(At, Room, Most - Taken);
      if (At.Period == Period)
        return Taken; // no room for the next layer
    }
    if (At.Period == G.Times)
      At = {At.Group + 1};
  }
  return Taken;
}

/// Whether \p Layers from \p At, behind \p First on the first of them, fit into
/// \p Count stages of \p Limit, each with a layer.
bool Balancer::fits(Place At, int64_t First, int64_t Layers, int64_t Count,
                    int64_t Limit) const {
  for (int64_t Rest = Count - 1; Rest >= 0; --Rest) {
    const int64_t Used = (Rest == Count - 1 ? First : 0) + (Rest ? 0 : Head);
    if (Used > Limit)
      return false;
    const int64_t Taken = take(At, Limit - Used, Layers - Rest);
    if (Taken == 0)
      return false;
    Layers -= Taken;
  }
  return Layers == 0;
}

std::optional<std::vector<int64_t>> Balancer::run() {
  if (!collect())
    return std::nullopt;
  std::vector<int64_t> Out;
  Place At;
  int64_t First = Embedding;
  for (int64_t Count = Stages; Count > 0; --Count) {
    int64_t Low = 0, High = Total;
    while (Low < High) {
      const int64_t Middle = Low + (High - Low) / 2;
      if (fits(At, First, Left, Count, Middle))
        High = Middle;
      else
        Low = Middle + 1;
    }
    const int64_t Used = First + (Count == 1 ? Head : 0);
    Out.push_back(take(At, Low - Used, Left - (Count - 1)));
    Left -= Out.back();
    First = 0;
  }
  return Out;
}

std::optional<std::vector<int64_t>>
foretrace::balancedLayers(const Program &P) {
  return Balancer(P).run();
}
