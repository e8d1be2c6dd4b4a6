// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/OutputEstimate.h"
#include "backends/ranks/RankFiles.h"
#include <algorithm>

using namespace llvm;

namespace foretrace::driver {

namespace {

/// Counts what is written.
class Counter final : public raw_ostream {
public:
  Counter() : raw_ostream(/*unbuffered=*/true) {}
  double Count = 0;

private:
  void write_impl(const char *, size_t Size) override {
    Count += static_cast<double>(Size);
  }
  uint64_t current_pos() const override { return 0; }
};

/// Has some of the files, or parts, written, and none of them kept.
class SampledOutputs final : public OutputSet {
public:
  double Bytes = 0; ///< of all files

  Error addAll(uint64_t Count, function_ref<std::string(uint64_t)>,
               function_ref<void(uint64_t, raw_ostream &)> Write) override {
    sample(Count, Write);
    return Error::success();
  }
  Error addParts(StringRef, uint64_t Count,
                 function_ref<void(uint64_t, raw_ostream &)> Write) override {
    sample(Count, Write);
    return Error::success();
  }

private:
  void sample(uint64_t Count,
              function_ref<void(uint64_t, raw_ostream &)> Write) {
    constexpr uint64_t MaxSamples = 16; // ranks of a stage stand side by side
    constexpr double Enough = 16 << 20; // the differences of ranks are small
    const uint64_t Samples = std::min(Count, MaxSamples);
    Counter Of;
    uint64_t Taken = 0;
    for (; Taken != Samples && Of.Count < Enough; ++Taken)
      Write(Count / Samples * Taken + Count / Samples / 2, Of);
    if (Taken != 0)
      Bytes +=
          Of.Count * static_cast<double>(Count) / static_cast<double>(Taken);
  }
};

/// A block that repeats nothing, and how often it stands for the one given.
struct OnceBlock {
  ir::EmitSpec Emit;
  double Times = 1;

  OnceBlock(const Backend &Format, const ir::EmitSpec &Given) : Emit(Given) {
    for (ir::NamedAttribute &Option : Emit.Options.Fields) {
      const EmitOption *Known = Format.findOption(Option.Name);
      int64_t &Count = Option.Value.Integer;
      if (!Known || !Known->Repeats || Count <= 1)
        continue;
      Times *= static_cast<double>(Count);
      Count = 1;
    }
  }
};

/// A job with fewer micro-batches and layers.
struct SmallJob {
  double Steps, Layers; ///< how many it has
  std::optional<double> Bytes;
};

} // namespace

static double layersOf(const ir::Program &P) {
  double Layers = 0;
  for (const ir::Stage &S : P.Stages)
    for (const ir::ChunkRun &C : S.Chunks)
      Layers += static_cast<double>(S.Count) * static_cast<double>(C.Count) *
                static_cast<double>(ir::layerCount(C.Layers));
  return P.Stages.empty() ? static_cast<double>(P.Spec.Model.layerCount())
                          : Layers;
}

/// Leaves no more than \p Most layers of each run.
static void shorten(ir::LayerSequence &Layers, int64_t Most) {
  for (ir::LayerGroup &G : Layers) {
    G.Periods = std::min(G.Periods, Most);
    for (ir::BlockRun &R : G.Runs)
      R.Count = std::min(R.Count, Most);
  }
}

static void shortenLayers(ir::Program &P, int64_t Most) {
  shorten(P.Layers, Most * P.Schedule.parts());
  for (ir::Stage &S : P.Stages)
    for (ir::ChunkRun &C : S.Chunks)
      shorten(C.Layers, Most);
  Most *= *P.Spec.Parallel.Pp;
  for (ir::LayerRun &R : P.Spec.Model.Layers) {
    R.Periods = std::min(R.Periods, Most);
    for (ir::LayerRun::Item &I : R.Items)
      I.Count = std::min(I.Count, Most);
  }
}

static void shortenSteps(ir::Program &P, int64_t MicroBatches) {
  Located<int64_t> &Batch = P.Spec.Train.GlobalBatch;
  Located<int64_t> &Ga = P.Spec.Parallel.Ga;
  Batch.Value = Batch.Value / Ga.Value * MicroBatches;
  Ga.Value = MicroBatches;
  P.Schedule.MicroBatches = MicroBatches;
  P.Schedule.Group = std::min(P.Schedule.Group, MicroBatches);
}

/// How many ranks the options of \p Emit name, if they do.
static std::optional<double> chosenRanks(const Backend &Format,
                                         const ir::EmitSpec &Emit) {
  for (const ir::NamedAttribute &Option : Emit.Options.Fields) {
    const EmitOption *Known = Format.findOption(Option.Name);
    RankList Ranks;
    DiagnosticEngine Unheard;
    if (!Known || !Known->ChoosesRanks ||
        !option::Ranks::read(Option.Value, Ranks, Unheard) || Ranks.empty())
      continue;
    double Count = 0;
    for (const RankRange &R : Ranks)
      Count += static_cast<double>(R.Last - R.First) + 1;
    return Count;
  }
  return std::nullopt;
}

double guessBytes(const Backend &Format, const EmitRequest &Request) {
  const ir::Program &P = Request.Program;
  if (!P.Spec.Parallel.World.isPresent()) // of a model alone
    return 0;
  constexpr double PerLayer = 4096; // of a micro-batch on a rank, both ways
  const std::optional<double> Chosen = chosenRanks(Format, Request.Emit);
  // Those may all be of the longest stage.
  const double Stages = Chosen ? 1 : static_cast<double>(*P.Spec.Parallel.Pp);
  return OnceBlock(Format, Request.Emit).Times * PerLayer *
         Chosen.value_or(static_cast<double>(*P.Spec.Parallel.World)) *
         static_cast<double>(*P.Spec.Parallel.Ga) * (1 + layersOf(P) / Stages);
}

/// What the block writes of a job with these sizes, if it has as many.
static SmallJob measure(const Emission &Block, const EmitRequest &Request,
                        int64_t MicroBatches, int64_t Layers) {
  ir::Program P = Request.Program;
  shortenSteps(P, std::min(MicroBatches, *P.Spec.Parallel.Ga));
  shortenLayers(P, Layers);
  SmallJob Of{static_cast<double>(*P.Spec.Parallel.Ga), layersOf(P), {}};
  const EmitRequest Small{P, Request.Emit, Request.DefaultStem, Request.Where};
  DiagnosticEngine Unheard;
  if (!Block.check(Small, Unheard))
    return Of;
  SampledOutputs Files;
  if (Error E = Block.emit(Small, Files))
    consumeError(std::move(E));
  else
    Of.Bytes = Files.Bytes;
  return Of;
}

/// How much \p Bytes grow over \p Count steps or layers, for each. Numbers that
/// have a digit more are no growth.
static double slope(double Bytes, double Count) {
  constexpr double Least = 4;
  return Count > 0 && Bytes >= Least * Count ? Bytes / Count : 0;
}

/// What a block that repeats nothing writes.
static std::optional<double> estimateOnce(const Emission &Block,
                                          const EmitRequest &Request) {
  const ir::Program &P = Request.Program;
  // Beyond the reach of a pipeline its stages repeat what they do, in groups.
  constexpr int64_t Layers = 8, MinUnit = 64, MaxUnit = 1 << 14;
  const ir::Schedule &S = P.Schedule;
  const int64_t Reach = std::max(MinUnit, 2 * S.Stages);
  const int64_t Group = std::min(S.Group, MaxUnit);
  const int64_t Unit =
      std::min(MaxUnit, 2 * Group * ((Reach / 2 + Group - 1) / Group));
  const int64_t Few = Unit + *P.Spec.Parallel.Ga % Unit;
  // What is written is linear in steps, in layers, and in steps of layers.
  const SmallJob Least = measure(Block, Request, Few, Layers);
  const auto AllSteps = static_cast<double>(*P.Spec.Parallel.Ga);
  const double AllLayers = layersOf(P);
  const bool HasMoreSteps = Least.Steps < AllSteps;
  const bool HasMoreLayers = Least.Layers < AllLayers;
  const SmallJob Longer =
      HasMoreSteps ? measure(Block, Request, Few + Unit, Layers) : Least;
  const SmallJob Deeper =
      HasMoreLayers ? measure(Block, Request, Few, 2 * Layers) : Least;
  const SmallJob Both = HasMoreSteps && HasMoreLayers
                            ? measure(Block, Request, Few + Unit, 2 * Layers)
                            : (HasMoreSteps ? Longer : Deeper);
  if (!Least.Bytes || !Longer.Bytes || !Deeper.Bytes || !Both.Bytes)
    return std::nullopt;
  const double Steps = Longer.Steps - Least.Steps;
  const double Depth = Deeper.Layers - Least.Layers;
  const double PerStep = slope(*Longer.Bytes - *Least.Bytes, Steps);
  const double PerLayer = slope(*Deeper.Bytes - *Least.Bytes, Depth);
  const double PerBoth =
      slope(*Both.Bytes - *Longer.Bytes - *Deeper.Bytes + *Least.Bytes,
            Steps * Depth);
  const double MoreSteps = AllSteps - Least.Steps;
  const double MoreLayers = AllLayers - Least.Layers;
  return *Least.Bytes + PerStep * MoreSteps + PerLayer * MoreLayers +
         PerBoth * MoreSteps * MoreLayers;
}

std::optional<double> estimateBytes(const Backend &Format,
                                    const EmitRequest &Request) {
  const OnceBlock Once(Format, Request.Emit);
  DiagnosticEngine Unheard;
  const std::unique_ptr<Emission> Block = Format.Read(Once.Emit, Unheard);
  const std::optional<double> Bytes = estimateOnce(
      *Block, {Request.Program, Once.Emit, Request.DefaultStem, Request.Where});
  return Bytes ? std::optional(*Bytes * Once.Times) : std::nullopt;
}

} // namespace foretrace::driver
