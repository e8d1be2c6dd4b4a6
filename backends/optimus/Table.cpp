// SPDX-License-Identifier: Apache-2.0
//
// A plan as rows: a line for each stage.
#include "backends/figures/Figures.h"
#include "backends/optimus/Job.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::optimus;

/// Calls of leaf modules in a layer.
static size_t callsPerLayer(const Graph &G) {
  return static_cast<size_t>(llvm::count_if(
      G.Steps, [](const Step &S) { return S.IsModule && S.Layer == 0; }));
}

/// `embed, 0-3, 4 (7/8)`: whole layers, and parts of layers.
static std::string layersOf(const PartitionJob &J, const PlannedStage &S) {
  const size_t Whole = callsPerLayer(J.Graph);
  std::string Text;
  auto Add = [&](const std::string &Part) {
    Text += (Text.empty() ? "" : ", ") + Part;
  };
  for (size_t I = 0; I < S.Parts.size(); ++I) {
    const LayerPart &P = S.Parts[I];
    if (P.Layer < 0 || P.Leaves.size() < Whole) {
      Add(P.Layer < 0 ? J.keyOf(P)
                      : J.keyOf(P) + " (" + std::to_string(P.Leaves.size()) +
                            "/" + std::to_string(Whole) + ")");
      continue;
    }
    const size_t First = I;
    while (I + 1 < S.Parts.size() && S.Parts[I + 1].Layer >= 0 &&
           S.Parts[I + 1].Leaves.size() == Whole)
      ++I;
    Add(J.keyOf(P) + (I > First ? "-" + J.keyOf(S.Parts[I]) : ""));
  }
  return Text;
}

/// Writes CSV, in which column names have the units.
static void writeCSV(const FigureTable &T, llvm::raw_ostream &OS) {
  std::vector<std::vector<std::string>> Lines(T.Rows.size());
  for (const auto &[Line, Row] : llvm::zip_equal(Lines, T.Rows))
    for (const Figure &F : Row)
      Line.push_back(exact(F));
  std::vector<RowColumn> Columns;
  for (const FigureColumn &C : T.Columns)
    Columns.push_back(
        {(C.Key + (C.Unit == FigureUnit::Bytes ? "_bytes" : "")).str()});
  writeRows(std::move(Columns), Lines, RowFormat::CSV, OS);
}

void foretrace::optimus::writeStages(const PartitionJob &J, RowFormat As,
                                     bool IsExact, llvm::raw_ostream &OS) {
  FigureTable T{"stages",
                "",
                columns({{FigureUnit::Count, "stage modules"},
                         {FigureUnit::Text, "layers"},
                         {FigureUnit::LargeCount, "parameters"},
                         {FigureUnit::Bytes, "sent needed"}}),
                {}};
  for (int64_t I = 0; I < J.stages(); ++I) {
    const PlannedStage &S = J.stage(I);
    const Payload Of = J.payloadAfter(I);
    T.Rows.push_back(
        {I, S.Modules, layersOf(J, S), S.Parameters, Of.Sent, Of.Needed});
  }
  if (As == RowFormat::CSV)
    return writeCSV(T, OS);
  writeTable(T, As, IsExact, OS);
}
