// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/TableImport.h"
#include "frontend/Defaults.h"
#include "passes/BlockBuilder.h"
#include "passes/Passes.h"
#include "tools/validate/SimaiTable.h"
#include "llvm/ADT/STLExtras.h"
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
struct Row {
  TableRow Of;
  SourceRange Range;
};

class RowCollector : public validate::TableVisitor {
public:
  void header(const TableHeader &H, const validate::Place &) override {
    Header = H;
  }
  void row(const TableHeader &, const TableRow &R,
           const validate::Place &) override {
    Rows.push_back({R, rangeOf(R.Name)});
  }
  static SourceRange rangeOf(llvm::StringRef Text) {
    return {llvm::SMLoc::getFromPointer(Text.begin()),
            llvm::SMLoc::getFromPointer(Text.end())};
  }

  TableHeader Header;
  std::vector<Row> Rows;
};

/// Who runs the message of a cell, and as what.
struct Message {
  OpKind Kind;
  ir::Group Group;
  int64_t Ranks;
};

/// Makes the ops of a stage, in the order in which they run.
class StageBuilder {
public:
  StageBuilder(Program &P, Block &B, DiagnosticEngine &Diags)
      : P(P), B(B), Build(B, "convert"), Diags(Diags) {}

  void add(const Row &R, TableColumn Column);
  /// What is left to wait for when all messages are there.
  Nanoseconds updateTime() const { return Update + Delay; }

private:
  std::optional<Message> messageOf(const TableCell &C,
                                   TableColumn Column) const;
  std::optional<int64_t> number(uint64_t N, llvm::StringRef What);
  void kernel(Nanoseconds Time, llvm::ArrayRef<ValueId> Results);
  void message(const Message &M, int64_t Size, Nanoseconds Time);

  Program &P;
  Block &B;
  BlockBuilder Build;
  DiagnosticEngine &Diags;
  // Of the cell that is added:
  llvm::StringRef Name;
  SourceRange Range;
  TableColumn Column = TableColumn::Forward;
  // Of those before it:
  ValueId Awaited;    ///< what the next kernel waits for
  Nanoseconds Delay;  ///< by how much it starts late
  Nanoseconds Update; ///< the longest delay of who waits for nobody
};

} // namespace

/// The axis along which the members of a group differ.
static Axis axisOf(simai::Group G, TableColumn Column) {
  switch (G) {
  case simai::Group::Column:
    return Column == TableColumn::WeightGradient ? Axis::Dp : Axis::Tp;
  case simai::Group::Expert:
    return Axis::Ep;
  case simai::Group::ExpertData:
    return Axis::Edp;
  }
  llvm_unreachable("every group is handled");
}

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

std::optional<Message> StageBuilder::messageOf(const TableCell &C,
                                               TableColumn In) const {
  const std::optional<OpKind> Kind = kindOf(C.Comm);
  const Axis Along = axisOf(C.Group, In);
  if (!Kind || C.Size == 0 || P.Mesh[Along] == 1)
    return std::nullopt;
  return Message{*Kind, {{Along}}, P.Mesh[Along]};
}

std::optional<int64_t> StageBuilder::number(uint64_t N, llvm::StringRef What) {
  if (N <= INT64_MAX)
    return static_cast<int64_t>(N);
  Diags.report(Range, diag::SizeOverflow, What);
  return std::nullopt;
}

void StageBuilder::kernel(Nanoseconds Time, llvm::ArrayRef<ValueId> Results) {
  llvm::SmallVector<ValueId, 1> Operands;
  if (Awaited.isValid())
    Operands.push_back(Awaited);
  Op &O = B.Ops[Build.op(OpKind::Kernel, Name, Operands, Results)];
  O.Time = Time + Delay;
  O.Derivative = Column == TableColumn::Forward    ? Derivative::None
                 : Column == TableColumn::Backward ? Derivative::Input
                                                   : Derivative::Param;
  O.Phase = Column == TableColumn::Forward ? Phase::Forward : Phase::Backward;
  Awaited = {};
  Delay = {};
}

/// A buffer of \p Size bytes on a rank, before and after a message.
static std::pair<TensorType, std::pair<Layout, Layout>>
bufferOf(const Message &M, int64_t Size) {
  const Axis Along = M.Group.Axes.front();
  TensorType Type{ElementType::U8, {{DimKind::Flat, Size}}};
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
    // What each has for each, of as many bytes.
    const bool IsExpert = Along == Axis::Ep || Along == Axis::Edp;
    const auto Parts = static_cast<int64_t>(llvm::divideCeil(
        static_cast<uint64_t>(Size), static_cast<uint64_t>(M.Ranks)));
    Type.Dims = {{IsExpert ? DimKind::Slots : DimKind::Seq, M.Ranks},
                 {DimKind::Hidden, Parts * M.Ranks}};
    From.setSplit(Along, 0);
    To.setSplit(Along, 1);
  }
  }
  return {Type, {From, To}};
}

void StageBuilder::message(const Message &M, int64_t Size, Nanoseconds Time) {
  const auto &[Type, Layouts] = bufferOf(M, Size);
  const ValueId From = Build.value(ValueKind::Activation, Name, Type);
  const ValueId To = Build.value(ValueKind::Activation, Name, Type);
  B.Values[From].Layout = Layouts.first;
  B.Values[To].Layout = Layouts.second;
  kernel(Time, {From});
  const OpId I = Build.op(M.Kind, Name, {From}, {To});
  B.Ops[I].Group = M.Group;
  B.Ops[I].Phase = B.Ops[OpId{I.Index - 1}].Phase;
  B.Ops[I].Derivative = B.Ops[OpId{I.Index - 1}].Derivative;
  Awaited = To;
}

void StageBuilder::add(const Row &R, TableColumn Of) {
  const TableCell &Cell = R.Of.Cells[static_cast<size_t>(Of)];
  Name = R.Of.Name;
  Range = R.Range;
  Column = Of;
  Build.setOrigin(Range, getName(Of));
  const std::optional<int64_t> Time = number(Cell.Time, "a time"),
                               Wait = number(R.Of.Update, "a time"),
                               Size = number(Cell.Size, "a message");
  if (!Time || !Wait || !Size)
    return;
  const std::optional<Message> M = messageOf(Cell, Of);
  if (!M && *Time == 0)
    return;
  // What all ranks of a group have is counted, too, and shares are rounded up.
  if (M && ((Bytes(*Size) + Bytes(M->Ranks)) * M->Ranks).isOverflow()) {
    Diags.report(Range, diag::SizeOverflow, "a message");
    return;
  }
  if (!M)
    return kernel(Nanoseconds(*Time), {});
  message(*M, *Size, Nanoseconds(*Time));
  if (Of != TableColumn::WeightGradient) {
    Delay = Nanoseconds(*Wait);
  } else {
    Awaited = {};
    Update = Nanoseconds(std::max(Update.value(), *Wait));
  }
}

/// Whether the rows run in the order that is known here.
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

static void fillMesh(const TableHeader &H, Mesh &M) {
  M[Axis::Tp] = M[Axis::Etp] = H.Tp;
  M[Axis::Dp] = H.dp();
  M[Axis::Ep] = H.Ep;
  M[Axis::Edp] = H.dp() / H.Ep;
}

/// What waits for all messages.
static BlockId addStep(Program &P, Nanoseconds Time) {
  Block B;
  B.Name = "step";
  BlockBuilder Build(B, "convert");
  const ValueId All = Build.value(ValueKind::Gradient, "all",
                                  {ElementType::U8, {{DimKind::Flat, 1}}});
  Op &O = B.Ops[Build.op(OpKind::Kernel, "update", {All}, {})];
  O.Phase = Phase::Step;
  O.Time = Time;
  return P.Blocks.add(std::move(B));
}

static void addRows(Program &P, llvm::ArrayRef<Row> Rows, SourceRange Range,
                    DiagnosticEngine &Diags) {
  Block B;
  B.Name = "table";
  B.Range = Range;
  StageBuilder Build(P, B, Diags);
  for (const Row &R : Rows)
    Build.add(R, TableColumn::Forward);
  for (const Row &R : llvm::reverse(Rows)) {
    Build.add(R, TableColumn::Backward);
    Build.add(R, TableColumn::WeightGradient);
  }
  Stage &Only = P.Stages.emplace_back();
  P.Layers = {{1, {{P.Blocks.add(std::move(B)), 1}}}};
  Only.Chunks = {{P.Layers, 1}};
  Only.Step = addStep(P, Build.updateTime());
}

std::optional<Program> convert::importTable(llvm::StringRef Text,
                                            llvm::StringRef Path,
                                            validate::Findings &Found,
                                            DiagnosticEngine &Diags) {
  RowCollector Table;
  validate::readTable(Text, Path, Found, Table);
  const TableHeader &H = Table.Header;
  const SourceRange Range = RowCollector::rangeOf(Text.split('\n').first);
  if (Found.hasErrors() || !checkHeader(H, Range, Diags))
    return std::nullopt;
  Program P;
  P.Spec = specOf(H, Range);
  P.AtLevel = Level::Schedule;
  P.Facts = {Fact::Blocks, Fact::Layouts,   Fact::Recompute, Fact::Gradients,
             Fact::Stages, Fact::Scheduled, Fact::Sync,      Fact::Costs};
  fillMesh(H, P.Mesh);
  addRows(P, Table.Rows, Range, Diags);
  if (Diags.hasErrors() || !buildSchedule(P, Diags))
    return std::nullopt;
  return P;
}
