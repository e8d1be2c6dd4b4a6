// SPDX-License-Identifier: Apache-2.0
//
// A plan as rows: a line for each stage.
#include "backends/optimus/Writers.h"
#include "lang/NumberText.h"
#include "lang/RowWriter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

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

/// In MiB for people, else exact.
static void writeRowsOf(const PartitionJob &J, RowFormat As,
                        llvm::raw_ostream &OS) {
  const bool IsExact = As == RowFormat::CSV;
  auto Size = [&](int64_t Bytes) -> std::string {
    if (IsExact)
      return std::to_string(Bytes);
    return printMebibytes(Bytes);
  };
  std::vector<std::vector<std::string>> Lines;
  for (int64_t I = 0; I < J.stages(); ++I) {
    const PlannedStage &S = J.Plan.Stages[static_cast<size_t>(I)];
    const Payload Of = J.payloadAfter(I);
    Lines.push_back({std::to_string(I), std::to_string(S.Modules),
                     layersOf(J, S), std::to_string(S.Parameters),
                     Size(Of.Sent), Size(Of.Needed)});
  }
  writeRows({{"stage", true},
             {"modules", true},
             {"layers"},
             {"parameters", true},
             {IsExact ? "sent_bytes" : "sent MiB", true},
             {IsExact ? "needed_bytes" : "needed MiB", true}},
            Lines, As, OS);
}

void foretrace::optimus::writeTable(const PartitionJob &J,
                                    llvm::raw_ostream &OS) {
  writeRowsOf(J, RowFormat::Table, OS);
}

void foretrace::optimus::writeCSV(const PartitionJob &J,
                                  llvm::raw_ostream &OS) {
  writeRowsOf(J, RowFormat::CSV, OS);
}

void foretrace::optimus::writeMarkdown(const PartitionJob &J,
                                       llvm::raw_ostream &OS) {
  writeRowsOf(J, RowFormat::Markdown, OS);
}
