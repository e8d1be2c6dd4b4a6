// SPDX-License-Identifier: Apache-2.0
//
// The `shapes` backend: the products, attention and messages that a job runs,
// for measuring them.
#include "analysis/KernelShapes.h"
#include "backends/EmissionOf.h"
#include "ir/model/OpKinds.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;

struct shapes::Options {
  std::string File; ///< empty: from the job's name
  RowFormat Format = RowFormat::Table;
  bool Commands = false; ///< lists commands that measure them
};

constexpr EmitOption shapes::OptionRows[] = {
#include "backends/shapes/Options.def"
};
constexpr EmitReader shapes::Reader = readerOf<Options>(OptionRows);

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

static KernelClass classOf(const ProductShape &S) {
  return S.IsGrouped ? KernelClass::GroupedProduct : KernelClass::Product;
}

static int64_t whole(double Number) {
  return static_cast<int64_t>(std::llround(Number));
}

static FigureTable productsOf(const KernelShapes &All) {
  FigureTable T{"products",
                "products of an m x k and a k x n matrix",
                columns({{FigureUnit::Text, "op pass operand result"},
                         {FigureUnit::Count, "groups m n k count ns"}}),
                {},
                4};
  for (const ProductRun &R : All.Products)
    T.Rows.push_back({R.Op, R.Pass, getName(R.Shape.Operand).str(),
                      getName(R.Shape.Result).str(), whole(R.Shape.Groups),
                      whole(R.Shape.M), whole(R.Shape.N), whole(R.Shape.K),
                      R.Count, R.Time.value()});
  return T;
}

static FigureTable attentionOf(const KernelShapes &All) {
  FigureTable T{
      "attention",
      "attention, with the channels of all heads, and the pairs of "
      "queries and keys that the mask leaves of a head",
      columns({{FigureUnit::Text, "op pass"},
               {FigureUnit::Count, "batch queries keys pairs heads q_channels "
                                   "kv_channels out_channels count ns"}}),
      {},
      2};
  for (const AttentionRun &R : All.Attention) {
    const AttentionShape &S = R.Shape;
    T.Rows.push_back({R.Op, R.Pass, whole(S.Batch), whole(S.Queries),
                      whole(S.Keys), whole(S.Pairs), whole(S.Heads),
                      whole(S.QueryChannels), whole(S.KeyChannels),
                      whole(S.ContextChannels), R.Count, R.Time.value()});
  }
  return T;
}

static FigureTable streamsOf(const KernelShapes &All) {
  FigureTable T{"others",
                "other kernels, with the bytes that they read and write",
                columns({{FigureUnit::Text, "op pass"},
                         {FigureUnit::Count, "flops bytes count ns"}}),
                {},
                2};
  for (const StreamRun &R : All.Streams)
    T.Rows.push_back({R.Op, R.Pass, whole(R.Shape.Work), whole(R.Shape.Bytes),
                      R.Count, R.Time.value()});
  return T;
}

static FigureTable messagesOf(const KernelShapes &All) {
  FigureTable T{
      "messages",
      "collectives, with bytes as NCCL tests count them",
      columns({{FigureUnit::Text, "collective group"},
               {FigureUnit::Count, "ranks on_domain bytes count ns"}}),
      {},
      2};
  for (const MessageRun &R : All.Messages)
    T.Rows.push_back({getMnemonic(R.Kind).str(), R.Group, R.Ranks, R.OnDomain,
                      R.Size, R.Count, R.Time.value()});
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
  for (const ProductRun &R : All.Products)
    if (!R.Shape.IsGrouped && !cutlassName(R.Shape.Operand).empty())
      T.Rows.push_back(
          {llvm::formatv("cutlass_profiler --operation=Gemm --m={0} "
                         "--n={1} --k={2} --A={3}:row --B={3}:column",
                         whole(R.Shape.M), whole(R.Shape.N), whole(R.Shape.K),
                         cutlassName(R.Shape.Operand))
               .str()});
  for (const MessageRun &R : All.Messages)
    if (!programOf(R.Kind).empty())
      T.Rows.push_back({llvm::formatv("mpirun -np {0} {1} -b {2} -e {2} -g 1",
                                      R.Ranks, programOf(R.Kind), R.Size)
                            .str()});
  return T;
}

/// Writes all shapes as rows of one table, in which cells of other kernels are
/// empty.
static void writeRowsOfAll(const KernelShapes &All, llvm::raw_ostream &OS) {
  std::vector<std::string> Kernels; // of the rows of all tables, in order
  for (const ProductRun &R : All.Products)
    Kernels.push_back(getKeyword(classOf(R.Shape)).str());
  Kernels.insert(Kernels.end(), All.Attention.size(),
                 getKeyword(KernelClass::Attention).str());
  for (const StreamRun &R : All.Streams)
    Kernels.push_back(getKeyword(R.Shape.Class).str());
  for (const MessageRun &R : All.Messages)
    Kernels.push_back(getMnemonic(R.Kind).str());
  static constexpr llvm::StringLiteral Keys[] = {
      "kernel", "op",    "pass",       "operand",     "result",       "groups",
      "m",      "n",     "k",          "batch",       "queries",      "keys",
      "pairs",  "heads", "q_channels", "kv_channels", "out_channels", "flops",
      "group",  "ranks", "on_domain",  "bytes",       "count",        "ns"};
  std::vector<RowColumn> Columns;
  for (const llvm::StringRef Key : Keys)
    Columns.push_back({Key.str()});
  RowWriter Rows(std::move(Columns), RowFormat::CSV, OS);
  auto Kernel = Kernels.begin();
  for (const FigureTable &T :
       {productsOf(All), attentionOf(All), streamsOf(All), messagesOf(All)})
    for (const std::vector<Figure> &Row : T.Rows) {
      std::vector<std::string> Cells(std::size(Keys));
      Cells.front() = *Kernel++;
      for (const auto &[Column, Cell] : llvm::zip_equal(T.Columns, Row))
        if (const auto *Key = llvm::find(Keys, Column.Key);
            Key != std::end(Keys))
          Cells[static_cast<size_t>(Key - Keys)] = exact(Cell);
      Rows.write(Cells);
    }
}

llvm::Error shapes::emit(const EmitRequest &Request, const Options &O,
                         OutputSet &Out) {
  const KernelShapes All = kernelShapesOf(Request.Program);
  if (O.Format == RowFormat::CSV)
    return Out.add(Request.file(O.File, ".shapes.csv"),
                   [&](llvm::raw_ostream &OS) { writeRowsOfAll(All, OS); });
  Figures F{
      "foretrace.shapes/2",
      {},
      {productsOf(All), attentionOf(All), streamsOf(All), messagesOf(All)},
      {"Counts are those of an iteration of the rank that runs a shape "
       "most often."},
      {}};
  if (*Request.Program.Spec.Cost.Kind == CostKind::Estimate)
    F.Notes.push_back("`ns` is the estimated duration of the kernel alone, in "
                      "a benchmark.");
  if (O.Commands)
    F.Tables.push_back(commandsOf(All));
  return addFigures(Request, {O.File, O.Format, /*IsExact=*/true}, F, Out);
}
