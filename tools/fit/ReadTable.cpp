// SPDX-License-Identifier: Apache-2.0
#include "ir/model/OpKinds.h"
#include "ir/model/Spellings.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Tools.h"
#include "tools/fit/Fields.h"
#include "tools/fit/Measurements.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace foretrace::fit {

using ir::OpKind;

namespace {

/// Columns that are read, and those that only people read.
constexpr StringLiteral Read[] = {
    "kernel", "pass",  "operand",    "result",       "groups", "m",
    "n",      "k",     "batch",      "queries",      "keys",   "pairs",
    "flops",  "bytes", "q_channels", "out_channels", "ranks",  "on_domain",
    "heads",  "ns",    "us"};
constexpr StringLiteral Ignored[] = {"op", "kv_channels", "group", "count"};

/// One row of the table; its first error is reported.
class Row {
public:
  Row(MeasurementReader &In, SourceText Text, StringMap<StringRef> Of)
      : In(In), Text(Text), Cells(std::move(Of)) {}

  void read();

private:
  StringRef word(StringRef Column) const { return Cells.lookup(Column); }
  StringRef word(StringRef Column, StringRef Default) const {
    const StringRef Of = word(Column);
    return Of.empty() ? Default : Of;
  }
  double number(StringRef Column, std::optional<double> Default = std::nullopt);
  ir::ElementType type(StringRef Column, ir::ElementType Default);
  double seconds();
  void product(bool IsGrouped);
  void attention();
  void stream(KernelClass Class);
  void collective(OpKind Kind);
  template <typename ShapeT> void add(const ShapeT &S);

  MeasurementReader &In;
  const SourceText Text;            ///< of the row
  const StringMap<StringRef> Cells; ///< by column; empty ones are left out
  bool IsGood = true;
};

} // namespace

double Row::number(StringRef Column, std::optional<double> Default) {
  const StringRef Cell = word(Column);
  if (Cell.empty() && Default)
    return *Default;
  double Number = 0;
  if (!Cell.empty() &&
      (Cell.getAsDouble(Number) || !(Number > 0) || Number > 1e18)) {
    In.Diags.report(Text.rangeOf(Cell), diag::MeasurementCell, Column);
    IsGood = false;
  } else if (Cell.empty()) {
    In.Diags.report(Text.range(), diag::MeasurementIncomplete, word("kernel"),
                    Column);
    IsGood = false;
  }
  return Number;
}

ir::ElementType Row::type(StringRef Column, ir::ElementType Default) {
  const StringRef Cell = word(Column);
  if (Cell.empty())
    return Default;
  const std::optional<ir::ElementType> T =
      ir::findSpelling<ir::ElementType>(Cell);
  if (T)
    return *T;
  suggest(
      In.Diags.report(Text.rangeOf(Cell), diag::MeasurementWord, Cell, Column),
      Text.rangeOf(Cell), Cell, ir::getSpellings<ir::ElementType>());
  IsGood = false;
  return Default;
}

double Row::seconds() {
  return word("us").empty() ? number("ns") * 1e-9 : number("us") * 1e-6;
}

template <typename ShapeT> void Row::add(const ShapeT &S) {
  const double Seconds = seconds();
  if (IsGood)
    In.Found.push_back({S, Seconds});
}

void Row::product(bool IsGrouped) {
  ProductShape S;
  S.Operand = type("operand", ir::ElementType::BF16);
  S.IsOfWeight = word("pass") == "wgrad";
  S.Result = type("result",
                  S.IsOfWeight ? ir::ElementType::FP32 : ir::ElementType::BF16);
  S.IsGrouped = IsGrouped;
  S.Groups = number("groups", IsGrouped ? std::nullopt : std::optional(1.0));
  S.M = number("m");
  S.N = number("n");
  S.K = number("k");
  add(S);
}

void Row::attention() {
  AttentionShape S;
  S.IsBackward = word("pass", "forward") != "forward";
  S.Batch = number("batch", 1);
  S.Queries = number("queries");
  S.Keys = number("keys", S.Queries);
  S.Pairs = number("pairs", S.Queries * S.Keys / 2);
  S.QueryChannels = number("q_channels");
  S.ContextChannels = number("out_channels", S.QueryChannels);
  S.Heads = number("heads", 0);
  S.KeyChannels = S.QueryChannels; // has no effect on the kernel's law
  add(S);
}

void Row::stream(KernelClass Class) {
  StreamShape S;
  S.Class = Class;
  S.Work = Class == KernelClass::Scan ? number("flops") : 0;
  S.Bytes = number("bytes");
  add(S);
}

void Row::collective(OpKind Kind) {
  const double Ranks = number("ranks");
  CollectiveShape S{
      Kind,
      In.placeOf(Ranks,
                 number("on_domain", std::min(Ranks, In.devicesOfDomain()))),
      number("bytes")};
  if (IsGood && S.At.isSpread() && S.At.OuterRate == 0) {
    In.Diags.report(Text.range(), diag::MeasurementPlace);
    return;
  }
  if (Ranks > 1)
    add(S);
}

void Row::read() {
  const StringRef Kernel = word("kernel");
  if (const auto Kind = ir::findSpelling<OpKind>(Kernel);
      Kind && isCollective(*Kind))
    return collective(*Kind);
  if (const std::optional<KernelClass> Class = findKernelClass(Kernel))
    switch (*Class) {
    case KernelClass::Product:
    case KernelClass::GroupedProduct:
      return product(*Class == KernelClass::GroupedProduct);
    case KernelClass::Attention:
      return attention();
    default:
      return stream(*Class);
    }
  std::vector<StringRef> Names = kernelKeywords();
  for (const OpKind Kind : {OpKind::AllReduce, OpKind::AllGather,
                            OpKind::ReduceScatter, OpKind::AllToAll})
    Names.push_back(getMnemonic(Kind));
  const SourceRange At = Kernel.empty() ? Text.range() : Text.rangeOf(Kernel);
  suggest(In.Diags.report(At, diag::MeasurementWord, Kernel, "kernel"), At,
          Kernel, Names);
}

void MeasurementReader::readTable(SourceText Text) {
  std::vector<StringRef> Columns;
  for (StringRef Rest = Text.str(); !Rest.empty();) {
    StringRef Line;
    std::tie(Line, Rest) = Rest.split('\n');
    Line = Line.rtrim('\r');
    if (Line.trim().empty() || Line.starts_with("#"))
      continue;
    const std::vector<StringRef> Fields = splitFields(Line);
    if (Columns.empty()) {
      Columns = Fields;
      for (const StringRef C : Columns)
        if (!is_contained(Read, C) && !is_contained(Ignored, C))
          suggest(Diags.report(Text.rangeOf(C), diag::MeasurementColumn, C),
                  Text.rangeOf(C), C,
                  std::vector<StringRef>(std::begin(Read), std::end(Read)));
      if (Diags.hasErrors())
        return;
      continue;
    }
    if (Fields.size() != Columns.size()) {
      Diags.report(Text.rangeOf(Line), diag::MeasurementFields, Fields.size(),
                   Columns.size());
      continue;
    }
    StringMap<StringRef> Cells;
    for (const auto &[Column, Field] : zip_equal(Columns, Fields))
      if (!Field.empty())
        Cells.try_emplace(Column, Field);
    Row(*this, Text.part(Line), std::move(Cells)).read();
  }
}

} // namespace foretrace::fit
