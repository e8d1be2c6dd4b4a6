// SPDX-License-Identifier: Apache-2.0
//
// What a set of Chakra traces holds, in a line and in a table.
#include "backends/figures/Figures.h"
#include "tools/validate/ChakraCheck.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::validate {

/// Returns the distinctive part of `COMM_SEND_NODE`.
static std::string shortNameOf(size_t Type) {
  const std::string Name = nameOf(static_cast<NodeType>(Type));
  StringRef Short = Name;
  Short.consume_front("COMM_");
  Short.consume_back("_NODE");
  return Short.str();
}

/// `8208 COMP, 16 SEND`: the types there are.
static std::string nodesByType(const ChakraTotals &T) {
  std::vector<std::string> Parts;
  for (size_t I = 0; I != T.Nodes.size(); ++I)
    if (T.Nodes[I] > 0)
      Parts.push_back(formatv("{0} {1}", T.Nodes[I], shortNameOf(I)));
  return join(Parts, ", ");
}

static uint64_t bytesOf(const ChakraTotals &T) {
  uint64_t Bytes = T.Messages.Bytes;
  for (const auto &[Key, S] : T.Collectives)
    Bytes = SaturatingAdd(Bytes, S.Bytes);
  return Bytes;
}

static std::string textOf(uint64_t Number, FigureUnit U, bool IsExact) {
  return describe(static_cast<__int128>(Number), U, IsExact);
}

std::string summarize(const ChakraReport &R, bool IsExact) {
  const std::string Of =
      R.Ranks == R.Traces ? "" : formatv("{0} traces for ", R.Traces).str();
  return formatv("Chakra traces: {0}{1} ranks, {2} nodes ({3}), {4} groups, "
                 "{5}",
                 Of, R.Ranks, R.nodes(), nodesByType(R.Totals),
                 R.GroupSizes.size() - 1,
                 textOf(bytesOf(R.Totals), FigureUnit::Bytes, IsExact));
}

namespace {

/// Groups of the same size behave alike; there may be thousands.
struct GroupClass {
  ChakraTotals::Sum Sum;
  uint64_t Groups = 0;
};

} // namespace

/// By ranks of a group, and kind.
static std::map<std::pair<uint32_t, CommType>, GroupClass>
classesOf(const ChakraReport &R) {
  std::map<std::pair<uint32_t, CommType>, GroupClass> Classes;
  for (const auto &[Key, S] : R.Totals.Collectives) {
    GroupClass &C = Classes[{R.GroupSizes[Key.first], Key.second}];
    C.Sum.Count = SaturatingAdd(C.Sum.Count, S.Count);
    C.Sum.Bytes = SaturatingAdd(C.Sum.Bytes, S.Bytes);
    ++C.Groups;
  }
  return Classes;
}

void printSummary(const ChakraReport &R, bool IsExact, raw_ostream &OS) {
  const auto Text = [&](uint64_t Number, FigureUnit U) {
    return textOf(Number, U, IsExact);
  };
  OS << summarize(R, IsExact) << '\n';
  for (const auto &[Key, C] : classesOf(R))
    OS << formatv("{0,-20} {1} groups of {2} ranks, {3} nodes, {4}\n",
                  nameOf(Key.second), C.Groups, Key.first, C.Sum.Count,
                  Text(C.Sum.Bytes, FigureUnit::Bytes));
  if (R.Totals.Messages.Count > 0)
    OS << formatv("{0,-20} {1} nodes, {2}\n", "messages",
                  R.Totals.Messages.Count,
                  Text(R.Totals.Messages.Bytes, FigureUnit::Bytes));
  std::string Time = "no durations";
  if (R.Totals.ComputeNs > 0)
    Time = Text(R.Totals.ComputeNs, FigureUnit::Time) + " on the busiest rank";
  OS << formatv("{0,-20} {1}, {2}, {3} in all\n", "compute", Time,
                Text(R.MostFlops, FigureUnit::Flops),
                Text(R.Totals.Flops, FigureUnit::Flops));
  if (R.Totals.ComputeNs > 0)
    OS << formatv("{0,-20} {1} of compute along dependences\n", "critical path",
                  Text(R.Totals.CriticalNs, FigureUnit::Time));
}

std::vector<RowColumn> summaryColumns() {
  return {{"set"}, {"of"}, {"figure"}, {"value", true}};
}

void writeSummary(StringRef Name, const ChakraReport &R, const Findings &Found,
                  RowWriter &To) {
  const ChakraTotals &T = R.Totals;
  auto Row = [&](StringRef Of, StringRef Figure, uint64_t Value) {
    To.write({Name.str(), Of.str(), Figure.str(), std::to_string(Value)});
  };
  Row("all", "errors", static_cast<uint64_t>(Found.errorCount()));
  Row("all", "ranks", R.Ranks);
  Row("all", "traces", R.Traces);
  Row("all", "groups", R.GroupSizes.size() - 1);
  Row("all", "nodes", R.nodes());
  Row("all", "bytes", bytesOf(T));
  for (size_t I = 0; I != T.Nodes.size(); ++I)
    if (T.Nodes[I] > 0)
      Row(shortNameOf(I), "nodes", T.Nodes[I]);
  for (const auto &[Key, C] : classesOf(R)) {
    const std::string Of = formatv("{0} of {1}", nameOf(Key.second), Key.first);
    Row(Of, "groups", C.Groups);
    Row(Of, "nodes", C.Sum.Count);
    Row(Of, "bytes", C.Sum.Bytes);
  }
  Row("messages", "nodes", T.Messages.Count);
  Row("messages", "bytes", T.Messages.Bytes);
  Row("compute", "busiest_ns", T.ComputeNs);
  Row("compute", "critical_path_ns", T.CriticalNs);
  Row("compute", "busiest_flops", R.MostFlops);
  Row("compute", "flops", T.Flops);
}

} // namespace foretrace::validate
