// SPDX-License-Identifier: Apache-2.0
//
// The `memory` backend: memory of a rank of each stage, when it peaks, and
// whether it fits into the device.
#include "analysis/CachePool.h"
#include "analysis/DeviceMemory.h"
#include "analysis/Figures.h"
#include "backends/EmissionOf.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
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
  return {Fact::Scheduled, Fact::Totalled};
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

/// Returns the figures of a job that serves: what a rank of each stage holds,
/// and how many tokens and sequences fit.
static Figures servedFigures(const EmitRequest &Request,
                             const memory::Options &O) {
  const ExprScope P = Request.Figures.scope();
  Figures F{"foretrace.memory/3", {}, {}, {}, {}};
  FigureTable T{"stages",
                "per rank of each stage",
                columns({{FigureUnit::Text, "stages"},
                         {FigureUnit::Bytes,
                          "weights cache_token cache_limited cache_sequence"}}),
                {}};
  for (const Stage &S : P->Stages) {
    const StageCache C = cacheOf(P, S);
    T.Rows.push_back({IndexRange{S.First, S.Count},
                      Figure(P.Sizes, S.Totals.Weights.Id),
                      Figure(P.Sizes, C.OfToken), Figure(P.Sizes, C.OfLimited),
                      Figure(P.Sizes, C.OfSequence)});
  }
  auto Add = [&](llvm::StringLiteral Key, const char *Title, FigureUnit U,
                 std::optional<int64_t> Value) {
    if (Value)
      F.Named.push_back({Key, Title, U, *Value});
  };
  if (const auto Room = roomOf(Request, O)) {
    const CacheCapacity Of = *cacheCapacityOf(P, Room->Bytes);
    llvm::append_range(T.Columns, columns({{FigureUnit::Bytes, "step pool"},
                                           {FigureUnit::Count, "blocks"}}));
    for (const auto &[Row, Pool] : llvm::zip_equal(T.Rows, Of.Stages))
      Row.insert(Row.end(), {Figure(Pool.Step), Figure(Pool.Room),
                             Figure(Pool.Blocks)});
    Add("device_memory", "device memory", FigureUnit::Bytes, Room->Bytes);
    Add("kv_block", "tokens of a block of full attention", FigureUnit::Count,
        Of.Block);
    Add("kv_blocks", "blocks of the cache", FigureUnit::Count, Of.Blocks);
    Add("kv_tokens", "tokens of the cache", FigureUnit::Count, Of.Tokens);
    Add("sequences", "sequences of input + output that fit", FigureUnit::Count,
        Of.Sequences);
  }
  F.Tables.push_back(std::move(T));
  F.Sizes = P.Sizes;
  return F;
}

/// Reports sizes beyond 2^63, and a device on which no sequence fits.
static bool checkServed(const EmitRequest &Request, const memory::Options &O,
                        DiagnosticEngine &Diags) {
  const ExprScope P = Request.Figures.scope();
  const ServeSpec &V = *P->Spec.Serve;
  assert(*V.Step == StepKind::Largest && "it is of the largest step");
  const auto Room = roomOf(Request, O);
  const auto Of = cacheCapacityOf(P, Room ? Room->Bytes : INT64_MAX);
  if (!Of) {
    Diags.report(V.Range, diag::SizeOverflow, "the memory of a stage");
    return false;
  }
  const bool IsVLLM =
      *V.Engine == EngineKind::VLLM || *V.Engine == EngineKind::Generic;
  if (!Of->IsAlike && !IsVLLM) {
    Diags.report(V.Engine.Range, diag::ServePools, getSpelling(*V.Engine));
    return false;
  }
  if (!Of->DoPagesDivide) {
    Diags.report(V.Block.Range, diag::ServePage);
    return false;
  }
  if (Room && Of->Sequences == 0)
    Diags.report(V.MemoryFraction.Range, diag::ServeNoSequence,
                 Of->Blocks.value_or(0));
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
