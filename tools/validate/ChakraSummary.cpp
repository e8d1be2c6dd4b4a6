// SPDX-License-Identifier: Apache-2.0
//
// What a set of Chakra traces holds, in a line and in a table.
#include "tools/validate/ChakraCheck.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::validate {

/// `8208 COMP, 16 SEND`: the types there are, without what all their names
/// have.
static std::string nodesByType(const ChakraTotals &T) {
  std::vector<std::string> Parts;
  for (size_t I = 0; I != T.Nodes.size(); ++I) {
    const std::string Name = nameOf(static_cast<NodeType>(I));
    StringRef Short = Name;
    Short.consume_front("COMM_");
    Short.consume_back("_NODE");
    if (T.Nodes[I] > 0)
      Parts.push_back(formatv("{0} {1}", T.Nodes[I], Short));
  }
  return join(Parts, ", ");
}

std::string summarize(const ChakraReport &R) {
  uint64_t Bytes = R.Totals.Messages.Bytes;
  for (const auto &[Key, S] : R.Totals.Collectives)
    Bytes = SaturatingAdd(Bytes, S.Bytes);
  const std::string Of =
      R.Ranks == R.Traces ? "" : formatv("{0} traces for ", R.Traces).str();
  return formatv("Chakra traces: {0}{1} ranks, {2} nodes ({3}), {4} groups, "
                 "{5} bytes",
                 Of, R.Ranks, R.nodes(), nodesByType(R.Totals),
                 R.GroupSizes.size() - 1, Bytes);
}

void printSummary(const ChakraReport &R, raw_ostream &OS) {
  OS << summarize(R) << '\n';
  /// Groups of the same size behave alike; there may be thousands.
  struct Class {
    ChakraTotals::Sum Sum;
    uint64_t Groups = 0;
  };
  std::map<std::pair<uint32_t, CommType>, Class> Classes;
  for (const auto &[Key, S] : R.Totals.Collectives) {
    Class &C = Classes[{R.GroupSizes[Key.first], Key.second}];
    C.Sum.Count = SaturatingAdd(C.Sum.Count, S.Count);
    C.Sum.Bytes = SaturatingAdd(C.Sum.Bytes, S.Bytes);
    ++C.Groups;
  }
  for (const auto &[Key, C] : Classes)
    OS << formatv("{0,-20} {1} groups of {2} ranks, {3} nodes, {4} bytes\n",
                  nameOf(Key.second), C.Groups, Key.first, C.Sum.Count,
                  C.Sum.Bytes);
  if (R.Totals.Messages.Count > 0)
    OS << formatv("{0,-20} {1} nodes, {2} bytes\n", "messages",
                  R.Totals.Messages.Count, R.Totals.Messages.Bytes);
  std::string Time = "no durations";
  if (R.Totals.ComputeNs > 0)
    Time = formatv("{0} ns on the busiest rank", R.Totals.ComputeNs);
  OS << formatv("{0,-20} {1}, {2} FLOPs, {3} in all\n", "compute", Time,
                R.MostFlops, R.Totals.Flops);
  if (R.Totals.ComputeNs > 0)
    OS << formatv("{0,-20} {1} ns of compute along dependences\n",
                  "critical path", R.Totals.CriticalNs);
}

} // namespace foretrace::validate
