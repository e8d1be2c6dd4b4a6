// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/TableImport.h"
#include "frontend/Defaults.h"
#include "ir/model/Measure.h"
#include "ir/model/OpKinds.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Tools.h"
#include "passes/BlockBuilder.h"
#include "passes/Passes.h"
#include "tools/validate/SimaiTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::convert;
using validate::TableCell;
using validate::TableColumn;
using validate::TableHeader;
using validate::TableRow;

namespace {

/// A row, kept until it is known that all can be read.
struct CollectedRow {
  TableRow Of;
  SourceRange Range;
};

class RowCollector : public validate::TableVisitor {
public:
  explicit RowCollector(SourceText Text) : Text(Text) {}

  void header(const TableHeader &H, const validate::Place &) override {
    Header = H;
  }
  void row(const TableHeader &, const TableRow &R,
           const validate::Place &) override {
    Rows.push_back({R, Text.rangeOf(R.Name)});
  }

  SourceText Text;
  TableHeader Header;
  std::vector<CollectedRow> Rows;
};

/// Returns the type of the value by which a kernel precedes the next one.
TensorType tokenType(Program &P) {
  return {ElementType::U8, {{DimKind::Flat, numberOf(P, 1)}}};
}

/// The collective of a cell and its ranks.
struct CellMessage {
  OpKind Kind;
  ir::Group Group;
  int64_t Ranks;
};

/// Makes the ops of a stage, in the order in which they run.
class StageBuilder {
public:
  StageBuilder(Program &P, Block &B, DiagnosticEngine &Diags)
      : P(P), B(B), Build(B, "convert"), Diags(Diags),
        Awaited(Build.value(ValueKind::Input, "start", tokenType(P))) {}

  void add(const CollectedRow &R, TableColumn Column);
  /// Returns the time to wait after the last message.
  Nanoseconds updateTime() const { return Update + Delay; }

private:
  std::optional<CellMessage> messageOf(const TableCell &C,
                                       TableColumn Column) const;
  std::optional<int64_t> number(uint64_t N, llvm::StringRef What);
  Op &add(OpKind Kind, llvm::ArrayRef<ValueId> Operands,
          llvm::ArrayRef<ValueId> Results);
  void kernel(Nanoseconds Time, ValueId Buffer);
  void message(const CellMessage &M, int64_t Size, Nanoseconds Time);

  Program &P;
  Block &B;
  BlockBuilder Build;
  DiagnosticEngine &Diags;
  // The cell that is added:
  std::string Name;
  SourceRange Range;
  TableColumn Column = TableColumn::Forward;
  // The cells before it:
  ValueId Awaited;    ///< what the next kernel, or message, waits for
  Nanoseconds Delay;  ///< by how much it starts late
  Nanoseconds Update; ///< the longest delay of a weight-gradient message
};

} // namespace

static std::optional<OpKind> kindOf(simai::Comm C) {
  switch (C) {
  case simai::Comm::None:
    return std::nullopt;
  case simai::Comm::AllReduce:
    return OpKind::AllReduce;
  case simai::Comm::AllGather:
    return OpKind::AllGather;
  case simai::Comm::ReduceScatter:
    return OpKind::ReduceScatter;
  case simai::Comm::AllToAll:
    return OpKind::AllToAll;
  }
  llvm_unreachable("every communication is handled");
}

std::optional<CellMessage> StageBuilder::messageOf(const TableCell &C,
                                                   TableColumn In) const {
  const std::optional<OpKind> Kind = kindOf(C.Comm);
  const Axis Along = validate::axisOf(C.Group, In);
  if (!Kind || C.Size == 0 || P.Mesh[Along] == 1)
    return std::nullopt;
  return CellMessage{*Kind, {{Along}}, P.Mesh[Along]};
}

std::optional<int64_t> StageBuilder::number(uint64_t N, llvm::StringRef What) {
  if (N <= INT64_MAX)
    return static_cast<int64_t>(N);
  Diags.report(Range, diag::SizeOverflow, What);
  return std::nullopt;
}

Op &StageBuilder::add(OpKind Kind, llvm::ArrayRef<ValueId> Operands,
                      llvm::ArrayRef<ValueId> Results) {
  Op &O = B.Ops[Build.op(Kind, Name, Operands, Results)];
  O.Derivative = Column == TableColumn::Forward    ? Derivative::None
                 : Column == TableColumn::Backward ? Derivative::Input
                                                   : Derivative::Param;
  O.Phase = Column == TableColumn::Forward ? Phase::Forward : Phase::Backward;
  return O;
}

/// Adds only an order if a kernel takes no time.
void StageBuilder::kernel(Nanoseconds Time, ValueId Buffer) {
  if (Time + Delay == Nanoseconds()) {
    if (Buffer.isValid())
      add(OpKind::View, {Awaited}, {Buffer});
    return;
  }
  const ValueId Done = Build.value(ValueKind::Activation, Name, tokenType(P));
  llvm::SmallVector<ValueId, 2> Results = {Done};
  if (Buffer.isValid())
    Results.push_back(Buffer);
  add(OpKind::Kernel, {Awaited}, Results).Time = Time + Delay;
  Awaited = Done;
  Delay = {};
}

/// A buffer of \p Size bytes on a rank, before and after a message.
static std::pair<TensorType, std::pair<Layout, Layout>>
bufferOf(Program &P, const CellMessage &M, int64_t Size) {
  const Axis Along = M.Group.Axes.front();
  TensorType Type{ElementType::U8, {{DimKind::Flat, numberOf(P, Size)}}};
  Layout From, To;
  switch (M.Kind) {
  case OpKind::AllReduce:
    From.setPartial(Along);
    break;
  case OpKind::AllGather:
    From.setFlat(Along);
    break;
  case OpKind::ReduceScatter:
    From.setPartial(Along);
    To.setFlat(Along);
    break;
  default: {
    // A part from each rank for each rank, all of as many bytes.
    const bool IsExpert = Along == Axis::Ep || Along == Axis::Edp;
    const auto Parts = static_cast<int64_t>(llvm::divideCeil(
        static_cast<uint64_t>(Size), static_cast<uint64_t>(M.Ranks)));
    Type.Dims = {
        {IsExpert ? DimKind::Expert : DimKind::Seq, numberOf(P, M.Ranks)},
        {DimKind::Hidden, numberOf(P, Parts) * M.Ranks}};
    From.setSplit(Along, 0);
    To.setSplit(Along, 1);
  }
  }
  return {Type, {From, To}};
}

void StageBuilder::message(const CellMessage &M, int64_t Size,
                           Nanoseconds Time) {
  const auto &[Type, Layouts] = bufferOf(P, M, Size);
  const ValueId From = Build.value(ValueKind::Activation, Name, Type);
  const ValueId To = Build.value(ValueKind::Activation, Name, Type);
  B.Values[From].Layout = Layouts.first;
  B.Values[To].Layout = Layouts.second;
  kernel(Time, From);
  add(M.Kind, {From}, {To}).Group = M.Group;
  if (Column != TableColumn::WeightGradient)
    Awaited = To;
}

void StageBuilder::add(const CollectedRow &R, TableColumn Of) {
  const TableCell &Cell = R.Of.Cells[static_cast<size_t>(Of)];
  Name = llvm::json::fixUTF8(R.Of.Name);
  Range = R.Range;
  Column = Of;
  Build.setOrigin(Range, getName(Of));
  const std::optional<int64_t> Time = number(Cell.Time, "a time"),
                               Wait = number(R.Of.Update, "a time"),
                               Size = number(Cell.Size, "a message");
  if (!Time || !Wait || !Size)
    return;
  const std::optional<CellMessage> M = messageOf(Cell, Of);
  // The bytes of a whole group must be countable, with shares rounded up.
  if (M && ((Bytes(*Size) + Bytes(M->Ranks)) * M->Ranks).isOverflow()) {
    Diags.report(Range, diag::SizeOverflow, "a message");
    return;
  }
  if (!M)
    return kernel(Nanoseconds(*Time), ValueId());
  message(*M, *Size, Nanoseconds(*Time));
  if (Of == TableColumn::WeightGradient)
    Update = Nanoseconds(std::max(Update.value(), *Wait));
  else
    Delay = Nanoseconds(*Wait);
}

/// Returns whether the order of the rows is one that this import knows.
static bool checkHeader(const TableHeader &H, SourceRange Range,
                        DiagnosticEngine &Diags) {
  if (!H.HasKeys) {
    Diags.report(Range, diag::ConvertPolicy, H.Policy);
    return false;
  }
  if (H.Checkpoints > 0) {
    Diags.report(Range, diag::ConvertCheckpoints, H.Checkpoints);
    return false;
  }
  if (H.Pp > 1)
    Diags.report(Range, diag::ConvertStage, H.Pp, H.Tp * H.dp(), H.Boundary);
  return true;
}

/// A job on the ranks of one stage, of which nothing else is known.
static Spec specOf(const TableHeader &H, SourceRange Range) {
  Spec S;
  ParallelSpec &P = S.Parallel;
  P.World.state(H.Tp * H.dp(), Range);
  P.Tp.state(H.Tp, Range);
  P.Ep.state(H.Ep, Range);
  S.Cost.Kind.state(CostKind::Profile, Range);
  applyDefaults(S);
  P.Dp.derive(H.dp(), Range);
  P.Etp.derive(H.Tp, Range);
  P.Ga.derive(1, Range);
  P.MicroBatchGroup.derive(1, Range);
  P.Schedule.derive(ScheduleKind::None, Range);
  P.RankOrder.derive(RankOrderKind::TpCpEpDpPp, Range);
  return S;
}

/// Adds the step, which waits for all messages.
static BlockId addStep(Program &P, Nanoseconds Time) {
  Block B;
  B.Name = "step";
  BlockBuilder Build(B, "convert");
  if (Time == Nanoseconds())
    return P.Blocks.add(std::move(B));
  const ValueId All = Build.value(ValueKind::Gradient, "all", tokenType(P));
  Op &O = B.Ops[Build.op(OpKind::Kernel, "update", {All}, {})];
  O.Phase = Phase::Step;
  O.Time = Time;
  return P.Blocks.add(std::move(B));
}

static void addRows(Program &P, llvm::ArrayRef<CollectedRow> Rows,
                    SourceRange Range, DiagnosticEngine &Diags) {
  Block B;
  B.Name = "table";
  B.Range = Range;
  StageBuilder Build(P, B, Diags);
  for (const CollectedRow &R : Rows)
    Build.add(R, TableColumn::Forward);
  for (const CollectedRow &R : llvm::reverse(Rows)) {
    Build.add(R, TableColumn::Backward);
    Build.add(R, TableColumn::WeightGradient);
  }
  Stage &Only = P.Stages.emplace_back();
  measure(P, B);
  P.Layers = {{1, {{P.Blocks.add(std::move(B)), 1}}}};
  Only.Chunks = {{P.Layers, 1}};
  Only.Step = addStep(P, Build.updateTime());
}

std::optional<Program> convert::importTable(SourceText Text,
                                            llvm::StringRef Path,
                                            validate::Findings &Found,
                                            DiagnosticEngine &Diags) {
  RowCollector Table(Text);
  validate::readTable(Text.str(), Path, Found, Table);
  const TableHeader &H = Table.Header;
  const SourceRange Range = Text.rangeOf(Text.str().split('\n').first);
  if (Found.hasErrors() || !checkHeader(H, Range, Diags))
    return std::nullopt;
  Program P;
  P.Spec = specOf(H, Range);
  P.Facts = {Fact::Blocks,    Fact::Layouts, Fact::Recompute,
             Fact::Gradients, Fact::Stages,  Fact::Scheduled,
             Fact::Sync,      Fact::Costs,   Fact::Traffic};
  P.Mesh = H.mesh();
  addRows(P, Table.Rows, Range, Diags);
  if (Diags.hasErrors() || !buildSchedule(P, Diags))
    return std::nullopt;
  return P;
}
