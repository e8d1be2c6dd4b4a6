// SPDX-License-Identifier: Apache-2.0
//
// The `flops` backend: what a job computes, and which share of the devices'
// peak that is.
#include "analysis/DeviceRates.h"
#include "analysis/Figures.h"
#include "analysis/FlopCounter.h"
#include "backends/EmissionOf.h"
#include "backends/flops/MegatronCount.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;
using namespace foretrace::flops;

struct flops::Options : FlopConvention, FigureOptions {
  /// The time of an iteration in ns; option::SpanOrEstimate::EstimatedTime if
  /// it is estimated.
  std::optional<int64_t> Time;
  /// The other options have no effect on functions of Megatron.
  flops::Convention Convention = Convention::Exact;
};

static constexpr llvm::StringRef Counts[] = {"causal", "full", "half"};
using AttentionWord = WordOf<Counts>;
static constexpr llvm::StringRef HardwareCounts[] = {"executed", "korthikanti"};
using HardwareWord = WordOf<HardwareCounts>;
static constexpr llvm::StringRef Conventions[] = {"exact", "core", "hybrid",
                                                  "bridge"};
using ConventionWord = WordOf<Conventions>;

constexpr EmitOption flops::OptionRows[] = {
#include "backends/flops/Options.def"
};
constexpr EmitReader flops::Reader = readerOf<Options>(OptionRows);

static bool isEstimated(const Options &O) {
  return O.Time == SpanOrEstimate::EstimatedTime;
}

FactSet flops::needs(const Options &O) {
  if (isEstimated(O))
    return {Fact::Totalled, Fact::Scheduled, Fact::Costs};
  return {Fact::Totalled};
}

static Figure figure(const PhaseWork::Amount &Of) {
  return {Of.Value, Of.From};
}

/// Adds the work of a row: forward, recomputed, backward.
static void addWork(const PhaseWork &W, std::vector<Figure> &Row) {
  for (const PhaseWork::Amount *Of : {&W.Forward, &W.Recomputed, &W.Backward})
    Row.push_back(figure(*Of));
}

static FigureTable blocksOf(const FlopCounter &Of) {
  FigureTable T{"blocks",
                "per layer and micro-batch of a replica",
                {{"block", FigureUnit::Text},
                 {"layers", FigureUnit::Count},
                 {"forward_flops", FigureUnit::Flops, "forward"},
                 {"recomputed_flops", FigureUnit::Flops, "recomputed"},
                 {"backward_flops", FigureUnit::Flops, "backward"}},
                {}};
  for (const BlockWork &B : Of.blocks())
    addWork(B.OfReplica,
            T.Rows.emplace_back(std::vector<Figure>{{B.Name}, {B.Layers}}));
  return T;
}

static FigureTable stagesOf(const FlopCounter &Of) {
  FigureTable T{"stages",
                "per rank and iteration",
                {{"stages", FigureUnit::Text},
                 {"ranks", FigureUnit::Count},
                 {"forward_flops", FigureUnit::Flops, "forward"},
                 {"recomputed_flops", FigureUnit::Flops, "recomputed"},
                 {"backward_flops", FigureUnit::Flops, "backward"}},
                {}};
  for (const StageWork &S : Of.stages())
    addWork(S.OfRank, T.Rows.emplace_back(std::vector<Figure>{
                          foretrace::stagesOf(*S.Of), {S.Ranks}}));
  return T;
}

/// Conventions, and what is an estimate.
/// Whether tokens of a block go to experts.
static bool hasSlots(const Block &B) {
  return llvm::any_of(B.Values, [](const Value &V) {
    return V.Type.indexOf(DimKind::Slots) >= 0;
  });
}

static std::vector<std::string> notesOf(const Program &P, const Options &O) {
  static constexpr llvm::StringLiteral Functions[] = {
      "", "Megatron-LM's transformer_flops", "Megatron-LM's hybrid_flops",
      "Megatron-Bridge's transformer_flops"};
  if (O.Convention != Convention::Exact)
    return {("FLOPs are those that " +
             Functions[static_cast<size_t>(O.Convention)] +
             " counts, without recomputation.")
                .str()};
  static constexpr llvm::StringLiteral Scores[] = {
      "Attention scores hidden by a causal mask are not counted.",
      "Attention scores hidden by a causal mask are counted.",
      "Half of all attention scores are counted, whatever the window."};
  std::vector<std::string> Notes = {
      "A multiply-add counts as 2 FLOPs; memory-bound ops are not counted.",
      Scores[static_cast<unsigned>(O.Attention)].str()};
  if (!O.Router)
    Notes.push_back("Matrix products of routers are not counted.");
  if (O.Embedding)
    Notes.push_back(
        "Embedding lookups count as products with the whole table.");
  if (O.Hardware == HardwareCount::Korthikanti)
    Notes.push_back("Selective recomputation counts three times.");
  if (llvm::any_of(P.Blocks, hasSlots))
    Notes.push_back(P.Spec.Train.ExpertLoad.isPresent()
                        ? "Totals are those of all ranks; the row of a stage "
                          "is for its most loaded rank (`routing`)."
                        : "Routing is assumed to be balanced.");
  return Notes;
}

namespace {

/// Fills figures.
class Answer {
public:
  Answer(const Program &P, const Options &O)
      : P(P), O(O), Sizes(P), Of(Sizes, O) {}

  Figures make();

private:
  void add(llvm::StringLiteral Key, const char *Title, Figure Value,
           FigureUnit U = FigureUnit::Flops) {
    F.Named.push_back({Key, Title, U, std::move(Value)});
  }
  void addTotals();
  void addCounted();
  void addRates();

  const Program &P;
  const Options &O;
  ExprOverlay Sizes;
  FlopCounter Of;
  Figures F = {"foretrace.flops/2", {}, {}, notesOf(P, O), {}};
};

} // namespace

/// Adds the totals that the functions of Megatron count.
void Answer::addCounted() {
  const PhaseWork::Amount Tokens = tokensOfIteration(Sizes);
  const __int128 Counted = countIteration(P.Spec, O.Convention);
  add("tokens", "tokens per iteration", figure(Tokens), FigureUnit::LargeCount);
  add("model_flops_per_token", "model FLOPs per token", Counted / Tokens.Value);
  add("model_flops", "model FLOPs (forward and backward)", Counted);
}

void Answer::addTotals() {
  const PhaseWork All = Of.iteration();
  add("tokens", "tokens per iteration", figure(tokensOfIteration(Sizes)),
      FigureUnit::LargeCount);
  add("model_flops_per_token", "model FLOPs per token", figure(Of.ofToken()));
  add("forward_flops", "forward", figure(All.Forward));
  add("backward_flops", "backward", figure(All.Backward));
  add("recomputed_flops", "recomputed", figure(All.Recomputed));
  add("model_flops", "model FLOPs (forward and backward)", figure(All.model()));
  add("hardware_flops", "hardware FLOPs (with recomputation)",
      figure(All.hardware()));
  add("repeated_flops", "FLOPs repeated on several ranks, not included",
      Of.repeated());
}

void Answer::addRates() {
  const bool IsExact = O.Convention == Convention::Exact;
  const PhaseWork All = Of.iteration();
  const __int128 Model =
      IsExact ? All.model().Value : countIteration(P.Spec, O.Convention);
  const DeviceRates In(P, *O.Time);
  add("flops_per_second", "model FLOPs per device and second",
      In.perSecond(Model));
  add("tokens_per_second", "tokens per device and second",
      In.perSecond(tokensOfIteration(Sizes).Value), FigureUnit::Count);
  if (!In.isPeakKnown()) {
    F.Notes.push_back(("MFU and HFU need `" + In.key() +
                       "` of the cluster's device or of `cost roofline`.")
                          .str());
    return;
  }
  if (In.key() != "peak_flops")
    F.Notes.push_back(("MFU and HFU are shares of `" + In.key() + "`.").str());
  add("mfu", "MFU", In.shareOfPeak(Model), FigureUnit::Millionths);
  if (IsExact)
    add("hfu", "HFU", In.shareOfPeak(All.hardware().Value),
        FigureUnit::Millionths);
}

Figures Answer::make() {
  const bool IsExact = O.Convention == Convention::Exact;
  IsExact ? addTotals() : addCounted();
  if (O.Time)
    addRates();
  if (IsExact)
    F.Tables = {blocksOf(Of), stagesOf(Of)};
  F.Sizes = std::move(Sizes.Sizes);
  return std::move(F);
}

/// Returns whether devices can do the least work, by any convention of FLOPs,
/// in \p Time; reports if not.
static bool checkTime(const EmitRequest &Request, int64_t Time,
                      DiagnosticEngine &Diags) {
  const DeviceRates In(Request.Program, Time);
  const Options Plain;
  ExprOverlay P(Request.Program);
  FlopCounter Of(P, Plain);
  const __int128 Done = Of.iteration().hardware().Value;
  if (!In.isPeakKnown() || !In.isTooFast(Done))
    return true;
  Diags.report(Request.Emit.Options.find("time")->Value.Range,
               diag::FlopsTooFast, Time, toString(In.leastTime(Done)));
  return false;
}

bool flops::check(const EmitRequest &Request, const Options &O,
                  DiagnosticEngine &Diags) {
  const Spec &S = Request.Program.Spec;
  if (O.Convention != Convention::Exact) {
    for (const llvm::StringRef Key :
         {"attention", "router", "embedding", "hardware"})
      if (const NamedAttribute *Of = Request.Emit.Options.find(Key))
        Diags.report(Of->Value.Range, diag::KeyWithoutEffect, Key,
                     ("with convention = " +
                      Conventions[static_cast<size_t>(O.Convention)])
                         .str());
    if (!checkConvention(S, O.Convention, Diags))
      return false;
  }
  ExprOverlay P(Request.Program);
  if (!FlopCounter(P, O).isOverflow())
    return isEstimated(O)
               ? checkEstimate(Request,
                               Request.Emit.Options.find("time")->Value.Range,
                               Diags)
               : !O.Time || checkTime(Request, *O.Time, Diags);
  Diags.report(Request.Program.Spec.Model.LayersRange, diag::SizeOverflow,
               "the FLOPs of a layer");
  return false;
}

/// Writes the FLOPs of a token and of an iteration, by kind of layer and of
/// stage; forward, backward and recomputed. A multiply-add counts as two.
Figures flops::figures(const EmitRequest &Request, const Options &O) {
  Options Timed = O;
  if (isEstimated(O))
    Timed.Time = Request.Figures.iteration().Total.value();
  return Answer(Request.Program, Timed).make();
}
