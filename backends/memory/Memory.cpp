// SPDX-License-Identifier: Apache-2.0
//
// The `memory` backend: memory of a rank of each stage, when it peaks, and
// whether it fits into the device.
#include "analysis/AdapterMemory.h"
#include "analysis/CachePool.h"
#include "analysis/DeviceMemory.h"
#include "analysis/ExpertLoads.h"
#include "analysis/Figures.h"
#include "analysis/PrefixCache.h"
#include "backends/EmissionOf.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::memory;
using namespace foretrace::option;

struct memory::Options : FigureOptions {
  std::optional<int64_t> Room; ///< of a device, bytes
};

constexpr EmitOption memory::OptionRows[] = {
#include "backends/memory/Options.def"
};
constexpr EmitReader memory::Reader = readerOf<Options>(OptionRows);

FactSet memory::needs(const Options &) {
  return {Fact::Scheduled, Fact::Totalled, Fact::Workspace};
}

/// `backward of layer at linear_fc2`.
static std::string momentOf(const Program &P, const StageMemory &M) {
  if (M.Phase == MemoryPhase::Update || !M.Step)
    return getName(M.Phase).str();
  const Block &B = P.Blocks[M.Block];
  std::string Text = llvm::formatv("{0} of {1}", getName(M.Phase), B.Name);
  if (P.Schedule.Chunks > 1)
    Text += llvm::formatv(", chunk {0}", M.Step->Chunk);
  Text += llvm::formatv(", micro-batch {0}", M.Step->MicroBatch);
  if (M.Op.isValid())
    Text += ", " + B.Ops[M.Op].Name;
  return Text;
}

/// The last column is there if anything is offloaded.
static FigureTable tableOf(ExprScope P, llvm::ArrayRef<StagesMemory> Rows) {
  const bool IsOffloaded = llvm::any_of(
      P->Blocks, [&](const Block &B) { return isOffloaded(P, B); });
  FigureTable T{
      "stages",
      "per rank of each stage",
      columns({{FigureUnit::Text, "stages"},
               {FigureUnit::Bytes, "weights gradients optimizer dummy_wgrads "
                                   "saved running update peak"},
               {FigureUnit::Count, "micro_batches"},
               {FigureUnit::Text, "when"}}),
      {}};
  if (IsOffloaded)
    T.Columns.push_back({"offloaded", FigureUnit::Bytes});
  for (const StagesMemory &R : Rows) {
    const StageTotals &Always = stageAt(P->Stages, R.Stages.First).Totals;
    const StageMemory &M = R.Of;
    auto Size = [&](ExprId Of) { return Figure(P.Sizes, Of); };
    T.Rows.push_back({R.Stages, Size(Always.Weights.Id),
                      Size(Always.Gradients.Id), Size(Always.Optimizer.Id),
                      Size(M.DummyWgrads), Size(M.Saved), Size(M.Running),
                      Size(M.Update), Size(M.Peak), Figure(M.InFlight),
                      momentOf(P, M)});
    if (IsOffloaded)
      T.Rows.back().push_back(Size(M.Offloaded));
  }
  return T;
}

/// Returns the memory that the option or the cluster gives; nothing if neither
/// does.
static std::optional<DeviceMemory> roomOf(const EmitRequest &Request,
                                          const memory::Options &O) {
  Located<int64_t> Given;
  if (O.Room)
    Given.state(*O.Room, Request.Emit.Options.find("memory")->Value.Range);
  return deviceMemoryOf(Request.Program.Spec, Given);
}

/// Returns the pools of the device that the option or the cluster gives.
static CachePools poolsOf(ExprScope P,
                          const std::optional<DeviceMemory> &Room) {
  return {P, Room ? std::optional(Room->Bytes) : std::nullopt};
}

/// Returns the table of stages: weights and bytes of the cache, and the pool of
/// a device, or of as many blocks as the job states.
static FigureTable servedTable(ExprScope P, const CachePools &Pools) {
  const bool HasRoom = Pools.bytes().has_value(),
             HasBlocks = Pools.sequences().has_value();
  FigureTable T{"stages",
                "per rank of each stage",
                columns({{FigureUnit::Text, "stages"},
                         {FigureUnit::Bytes,
                          "weights cache_token cache_limited cache_sequence"}}),
                {}};
  if (P->Spec.Lora)
    T.Columns.push_back({"adapters", FigureUnit::Bytes});
  if (usesDeepEP(P))
    T.Columns.push_back({"deepep_buffers", FigureUnit::Bytes});
  if (HasRoom)
    llvm::append_range(T.Columns, columns({{FigureUnit::Bytes, "step pool"}}));
  if (HasBlocks)
    llvm::append_range(T.Columns, columns({{FigureUnit::Count, "blocks"}}));
  for (const auto &[S, Pool] : llvm::zip_equal(P->Stages, Pools.stages())) {
    auto Size = [&](ExprId Of) { return Figure(P.Sizes, Of); };
    T.Rows.push_back({IndexRange{S.First, S.Count}, Size(S.Totals.Weights.Id),
                      Size(Pool.OfToken), Size(Pool.OfLimited),
                      Size(Pool.OfSequence)});
    auto &Row = T.Rows.back();
    if (P->Spec.Lora)
      Row.emplace_back(P.Sizes, adaptersOf(P, S));
    if (usesDeepEP(P))
      Row.emplace_back(P.Sizes, exchangeBuffersOf(P, S));
    if (HasRoom)
      Row.insert(Row.end(), {Size(S.Totals.Workspace.Id), Size(*Pool.Room)});
    if (HasBlocks)
      Row.push_back(Pool.Blocks ? Size(*Pool.Blocks) : Figure(int64_t(0)));
  }
  return T;
}

static void addNamed(Figures &F, llvm::StringLiteral Key, const char *Title,
                     FigureUnit U, Figure Value) {
  F.Named.push_back({Key, Title, U, std::move(Value)});
}

/// Adds how much the cache of an instance has.
static void addCapacity(ExprScope P, const CachePools &Of, Figures &F) {
  auto Add = [&](llvm::StringLiteral Key, const char *Title,
                 std::optional<Expr> Value) {
    if (Value)
      addNamed(F, Key, Title, FigureUnit::Count, Figure(P.Sizes, *Value));
  };
  if (Of.blocks())
    Add("kv_block", "tokens of a block of full attention", Of.block());
  Add("kv_blocks", "blocks of the cache", Of.blocks());
  Add("kv_tokens", "tokens of the cache", Of.tokens());
  Add("sequences", "sequences of input + output that fit", Of.sequences());
}

/// Adds the mean number of tokens of a sequence that a step yields: the one
/// that always follows, and each of those that are accepted with all before it.
static void addAccepted(const DraftSpec &D, Figures &F) {
  const std::vector<int64_t> Of = *DraftSpec::acceptances(*D.Acceptance);
  constexpr unsigned Digits = 6, BitsOfDigits = 20; // of a millionth
  const auto Bits = static_cast<unsigned>(*D.Tokens + 2) * BitsOfDigits;
  const llvm::APInt One(Bits, 1'000'000);
  llvm::APInt Sum(Bits, 1), Accepted(Bits, 1);
  for (int64_t Token = 0; Token < *D.Tokens; ++Token) {
    Accepted *= llvm::APInt(
        Bits, Of.size() == 1 ? Of.front() : Of[static_cast<size_t>(Token)]);
    Sum = Sum * One + Accepted;
  }
  llvm::SmallString<64> Text;
  Sum.toStringUnsigned(Text);
  const size_t Decimals = Digits * static_cast<size_t>(*D.Tokens);
  const std::string Number = (Text.substr(0, Text.size() - Decimals) + "." +
                              Text.substr(Text.size() - Decimals).rtrim('0'))
                                 .str();
  F.Named.push_back(
      {"accepted_tokens", "tokens of a sequence that a step yields",
       FigureUnit::Text, llvm::StringRef(Number).rtrim('.').str()});
}

/// Adds what a prefix cache with room for \p Tokens saves, or for all of them.
static void addPrefixHits(const Spec &S, std::optional<int64_t> Tokens,
                          Figures &F) {
  if (!S.Requests->From.isPresent() || !*S.Serve->PrefixCaching)
    return;
  const RequestTrace T = *RequestTrace::parse(*S.Requests->From);
  if (!T.hasIds())
    return;
  const PrefixHits Of = replayPrefixes(
      T, Tokens ? *Tokens / RequestTrace::BlockTokens : INT64_MAX);
  auto Add = [&](llvm::StringLiteral Key, const char *Title, int64_t Value) {
    addNamed(F, Key, Title, FigureUnit::Count, Value);
  };
  Add("trace_requests", "requests in the trace",
      static_cast<int64_t>(T.Requests.size()));
  Add("input_tokens", "prompt tokens", T.tokens(&TracedRequest::Input));
  Add("output_tokens", "output tokens", T.tokens(&TracedRequest::Output));
  Add("trace_blocks", "prompt blocks", Of.Blocks);
  Add("hit_blocks", "blocks that hit the prefix cache", Of.HitBlocks);
  Add("hit_tokens", "tokens that hit the prefix cache", Of.HitTokens);
  Add("requests_hit_fully", "requests that hit entirely", Of.FullHits);
  Add("evictions", "evicted blocks", Of.Evictions);
  Add("blocks_at_end", "blocks in the cache at the end", Of.BlocksLeft);
}

/// Adds the load of the busiest rank with and without redundant experts, and
/// the experts that have copies.
static void addExperts(const Spec &S, Figures &F) {
  if (!S.Train.ExpertLoad.isPresent())
    return;
  addNamed(F, "expert_load",
           "expert load of the most loaded rank, relative to the mean",
           FigureUnit::Millionths, *S.Train.ExpertLoad);
  if (*S.Serve->RedundantExperts == 0)
    return;
  const Routing R = *Routing::parse(*S.Train.Routing);
  const RoutedExperts Of = routedExperts(S.Model);
  const auto Tokens = tokensOfExperts(R, **Of.Count, Of.Choices);
  const ExpertPlacement Placed = placementOf(S, *Tokens);
  auto Add = [&](llvm::StringLiteral Key, const char *Title, std::string Text) {
    F.Named.push_back({Key, Title, FigureUnit::Text, std::move(Text)});
  };
  if (R.Is == Routing::Kind::Tokens) {
    Add("busiest_rank", "tokens of the busiest rank", Placed.busiest());
    if (**Of.Count % *S.Parallel.Ep == 0)
      Add("busiest_without_copies", "without redundant experts",
          placeInOrder(Tokens->Of, *S.Parallel.Ep).busiest());
  }
  FigureTable T{
      "experts",
      "experts with copies, of each layer",
      columns({{FigureUnit::Text, "expert"}, {FigureUnit::Count, "copies"}}),
      {}};
  for (const auto &[Expert, Copies] : llvm::enumerate(Placed.Copies))
    if (Copies > 1)
      T.Rows.push_back({std::to_string(Expert), Figure(Copies)});
  F.Tables.push_back(std::move(T));
}

/// Returns the figures of a job that serves: memory of a rank of each stage,
/// capacity of the cache, its hits in a trace, and loads of experts.
static Figures servedFigures(const EmitRequest &Request,
                             const memory::Options &O) {
  const ExprScope P = Request.Figures.scope();
  const Spec &S = P->Spec;
  Figures F{"foretrace.memory/3", {}, {}, {}, {}};
  const auto Room = roomOf(Request, O);
  const CachePools Pools = poolsOf(P, Room);
  if (Room)
    addNamed(F, "device_memory", "device memory", FigureUnit::Bytes,
             Room->Bytes);
  addCapacity(P, Pools, F);
  F.Tables.push_back(servedTable(P, Pools));
  if (S.Draft)
    addAccepted(*S.Draft, F);
  const std::optional<Expr> Tokens = Pools.tokens();
  addPrefixHits(S, Tokens ? std::optional(Tokens->value()) : std::nullopt, F);
  addExperts(S, F);
  if (S.Model.Positions.is(PositionKind::Rope) &&
      !S.Model.RotaryPositions.isPresent())
    F.Notes = {"Rotary tables are not included: the model has no "
               "rotary_positions."};
  F.Sizes = P.Sizes;
  return F;
}

/// Returns whether all sizes of the pools are below 2^63.
static bool haveValues(const CachePools &Pools) {
  return llvm::all_of(Pools.stages(), [](const CachePool &Pool) {
    auto IsKnown = [](const std::optional<Expr> &Of) {
      return !Of || Of->hasValue();
    };
    return Pool.OfToken.hasValue() && Pool.OfLimited.hasValue() &&
           Pool.OfSequence.hasValue() && IsKnown(Pool.Room) &&
           IsKnown(Pool.Page) && IsKnown(Pool.Blocks) && IsKnown(Pool.Tokens) &&
           IsKnown(Pool.Needed);
  });
}

/// Reports sizes beyond 2^63, and a device on which no sequence fits.
static bool checkServed(const EmitRequest &Request, const memory::Options &O,
                        DiagnosticEngine &Diags) {
  const ExprScope P = Request.Figures.scope();
  const ServeSpec &V = *P->Spec.Serve;
  const CachePools Of = poolsOf(P, roomOf(Request, O));
  if (!haveValues(Of)) {
    Diags.report(V.Range, diag::SizeOverflow, "the memory of a stage");
    return false;
  }
  for (const CachePool &Pool : Of.stages())
    if (Pool.Room && Pool.Page) {
      const int64_t Most = Pool.Room->value() / Pool.Page->value();
      if (Pool.Blocks->value() > Most)
        Diags.report(V.Blocks.Range, diag::ServeBlocks, Pool.Blocks->value(),
                     Most);
    }
  const std::optional<Expr> Sequences = Of.sequences();
  if (Sequences && Sequences->value() == 0)
    Diags.report(V.Blocks.isPresent() ? V.Blocks.Range : V.MemoryFraction.Range,
                 diag::ServeNoSequence, Of.blocks()->value());
  return true;
}

Figures memory::figures(const EmitRequest &Request, const Options &O) {
  if (Request.Program.Spec.Serve)
    return servedFigures(Request, O);
  const ExprScope P = Request.Figures.scope();
  const std::optional<std::vector<StagesMemory>> Rows =
      Request.Figures.memories().all();
  assert(Rows && "it was checked");
  const StagesMemory &Most = mostOf(*Rows);
  const int64_t Peak = Most.Of.Peak.value();
  Figures F{"foretrace.memory/3", {}, {tableOf(P, *Rows)}, {}, {}};
  auto Add = [&](llvm::StringLiteral Key, const char *Title, FigureUnit U,
                 Figure Value) {
    F.Named.push_back({Key, Title, U, std::move(Value)});
  };
  Add("peak", "peak memory per rank", FigureUnit::Bytes,
      Figure(P.Sizes, Most.Of.Peak));
  Add("peak_stages", "on stage", FigureUnit::Text, Most.Stages);
  Add("peak_phase", "in", FigureUnit::Text, getName(Most.Of.Phase).str());
  if (const Located<int64_t> &Load = P->Spec.Train.ExpertLoad; Load.isPresent())
    Add("expert_load",
        "expert load of the most loaded rank, relative to the mean",
        FigureUnit::Millionths, *Load);
  if (const auto Room = roomOf(Request, O)) {
    Add("device_memory", "device memory", FigureUnit::Bytes, Room->Bytes);
    Add("reserved", "reserved, besides tensors", FigureUnit::Bytes,
        Room->Reserved);
    Add("fits", "fits", FigureUnit::Flag, int64_t(Room->fits(Peak)));
    if (Room->fits(Peak))
      Add("free", "free", FigureUnit::Bytes, Room->usable() - Peak);
    else
      F.ExceededRoom = Room->usable();
  }
  F.Notes = {"Tensor sizes as requested; allocator rounding, library "
             "workspaces and contexts are not included."};
  F.Sizes = P.Sizes;
  return F;
}

bool memory::check(const EmitRequest &Request, const Options &O,
                   DiagnosticEngine &Diags) {
  if (Request.Program.Spec.Serve)
    return checkServed(Request, O, Diags);
  if (!Request.Figures.memories().all()) {
    Diags.report(Request.Program.Spec.Model.LayersRange, diag::SizeOverflow,
                 "the memory of a stage");
    return false;
  }
  warnIfExceeded(Request, roomOf(Request, O), Diags);
  return true;
}
