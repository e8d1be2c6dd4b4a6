// SPDX-License-Identifier: Apache-2.0
//
// A plan for people: a line for each stage.
#include "backends/optimus/Writers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace foretrace;
using namespace foretrace::optimus;
using llvm::formatv;

/// Calls of leaf modules in a layer.
static size_t callsPerLayer(const Graph &G) {
  return static_cast<size_t>(llvm::count_if(
      G.Steps, [](const Step &S) { return S.IsModule && S.Layer == 0; }));
}

/// `embed, 0-3, 4 (7/8)`: whole layers, and parts of layers.
static std::string layersOf(const Job &J, const PlannedStage &S) {
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

void foretrace::optimus::writeTable(const Job &J, llvm::raw_ostream &OS) {
  size_t Width = 6;
  for (const PlannedStage &S : J.Plan.Stages)
    Width = std::max(Width, layersOf(J, S).size());
  auto Line = [&](auto Stage, auto Modules, const std::string &Layers,
                  auto Parameters, auto Sent, auto Needed) {
    OS << formatv("{0,9} {1,8}  ", Stage, Modules) << Layers;
    OS.indent(static_cast<unsigned>(Width - Layers.size()));
    OS << formatv("{0,15} {1,9} {2,11}\n", Parameters, Sent, Needed);
  };
  auto MiB = [](int64_t Bytes) {
    return formatv("{0:f1}", static_cast<double>(Bytes) / (1 << 20)).str();
  };
  Line("stage", "modules", "layers", "parameters", "sent MiB", "needed MiB");
  for (int64_t I = 0; I < J.stages(); ++I) {
    const PlannedStage &S = J.Plan.Stages[static_cast<size_t>(I)];
    const Payload Of = J.payloadAfter(I);
    Line(I, S.Modules, layersOf(J, S), S.Parameters, MiB(Of.Sent),
         MiB(Of.Needed));
  }
}
