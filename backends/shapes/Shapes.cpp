// SPDX-License-Identifier: Apache-2.0
#include "backends/shapes/Shapes.h"
#include "analysis/KernelShapes.h"
#include "ir/model/OpKinds.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;

llvm::ArrayRef<EmitOption> shapes::optionTable() {
  static constexpr EmitOption Table[] = {
#define OPTION(...) EMIT_OPTION(__VA_ARGS__)
#include "backends/shapes/Options.def"
  };
  return Table;
}

shapes::Options shapes::readOptions(const EmitSpec &Emit,
                                    DiagnosticEngine &Diags) {
  return readEmitOptions<Options>(Emit, optionTable(), Diags);
}

FactSet shapes::needs(const Options &) {
  return {Fact::Scheduled, Fact::Sync, Fact::Costs};
}

bool shapes::check(const EmitRequest &Request, const Options &,
                   DiagnosticEngine &Diags) {
  const Program &P = Request.Program;
  const bool IsGood = llvm::all_of(P.Blocks, [&](const Block &B) {
    return llvm::none_of(B.Values, [&](const Value &V) {
      return elementsPerRank(P, V).isOverflow();
    });
  });
  if (!IsGood)
    Diags.report(P.Spec.Model.LayersRange, diag::SizeOverflow,
                 "the size of a tensor");
  return IsGood;
}

static FigureTable productsOf(const KernelShapes &All) {
  FigureTable T{"products",
                "products of an m x k and a k x n matrix",
                {{"op", FigureUnit::Text},
                 {"pass", FigureUnit::Text},
                 {"operand", FigureUnit::Text},
                 {"result", FigureUnit::Text},
                 {"groups", FigureUnit::Count},
                 {"m", FigureUnit::Count},
                 {"n", FigureUnit::Count},
                 {"k", FigureUnit::Count},
                 {"count", FigureUnit::Count},
                 {"ns", FigureUnit::Count}},
                {},
                4};
  for (const ProductShape &S : All.Products)
    T.Rows.push_back({S.Op, S.Pass, getName(S.Operand).str(),
                      getName(S.Result).str(), S.Groups, S.M, S.N, S.K, S.Count,
                      S.Time.value()});
  return T;
}

static FigureTable attentionOf(const KernelShapes &All) {
  FigureTable T{"attention",
                "attention, with the channels of all heads",
                {{"op", FigureUnit::Text},
                 {"pass", FigureUnit::Text},
                 {"batch", FigureUnit::Count},
                 {"queries", FigureUnit::Count},
                 {"keys", FigureUnit::Count},
                 {"heads", FigureUnit::Count},
                 {"q_channels", FigureUnit::Count},
                 {"kv_channels", FigureUnit::Count},
                 {"out_channels", FigureUnit::Count},
                 {"count", FigureUnit::Count},
                 {"ns", FigureUnit::Count}},
                {},
                2};
  for (const AttentionShape &S : All.Attention)
    T.Rows.push_back({S.Op, S.Pass, S.Batch, S.Queries, S.Keys, S.Heads,
                      S.QueryChannels, S.KeyChannels, S.ContextChannels,
                      S.Count, S.Time.value()});
  return T;
}

static FigureTable messagesOf(const KernelShapes &All) {
  FigureTable T{"messages",
                "collectives, with bytes as NCCL tests count them",
                {{"collective", FigureUnit::Text},
                 {"group", FigureUnit::Text},
                 {"ranks", FigureUnit::Count},
                 {"size", FigureUnit::Count},
                 {"count", FigureUnit::Count},
                 {"ns", FigureUnit::Count}},
                {},
                2};
  for (const MessageShape &S : All.Messages)
    T.Rows.push_back({getMnemonic(S.Kind).str(), S.Group, S.Ranks, S.Size,
                      S.Count, S.Time.value()});
  return T;
}

/// The program of NCCL tests for a collective; empty if it has none.
static llvm::StringRef programOf(OpKind Kind) {
  switch (Kind) {
  case OpKind::AllGather:
    return "all_gather_perf";
  case OpKind::ReduceScatter:
    return "reduce_scatter_perf";
  case OpKind::AllReduce:
    return "all_reduce_perf";
  case OpKind::AllToAll:
    return "alltoall_perf";
  case OpKind::Broadcast:
    return "broadcast_perf";
  default:
    return "";
  }
}

/// The name of a type in CUTLASS's profiler; empty if it has none.
static llvm::StringRef cutlassName(ElementType T) {
  switch (T) {
  case ElementType::BF16:
    return "bf16";
  case ElementType::FP16:
    return "f16";
  case ElementType::FP32:
    return "f32";
  case ElementType::FP8:
    return "e4m3";
  default:
    return "";
  }
}

static FigureTable commandsOf(const KernelShapes &All) {
  FigureTable T{"commands",
                "commands that measure them",
                {{"command", FigureUnit::Text}},
                {}};
  for (const ProductShape &S : All.Products)
    if (S.Groups == 1 && !cutlassName(S.Operand).empty())
      T.Rows.push_back(
          {llvm::formatv("cutlass_profiler --operation=Gemm --m={0} "
                         "--n={1} --k={2} --A={3}:row --B={3}:column",
                         S.M, S.N, S.K, cutlassName(S.Operand))
               .str()});
  for (const MessageShape &S : All.Messages)
    if (!programOf(S.Kind).empty())
      T.Rows.push_back({llvm::formatv("mpirun -np {0} {1} -b {2} -e {2} -g 1",
                                      S.Ranks, programOf(S.Kind), S.Size)
                            .str()});
  return T;
}

llvm::Error shapes::emit(const EmitRequest &Request, const Options &O,
                         OutputSet &Out) {
  const KernelShapes All = kernelShapesOf(Request.Program);
  Figures F{"foretrace.shapes/1",
            {},
            {productsOf(All), attentionOf(All), messagesOf(All)},
            {"Counts are those of an iteration of the rank that runs a shape "
             "most often."},
            {}};
  if (*Request.Program.Spec.Cost.Kind == CostKind::Estimate)
    F.Notes.push_back("`ns` is the estimated duration of one.");
  if (O.Commands)
    F.Tables.push_back(commandsOf(All));
  return addFigures(Request, O.File, O.Format, F, Out);
}
