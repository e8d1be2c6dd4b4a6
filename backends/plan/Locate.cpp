// SPDX-License-Identifier: Apache-2.0
//
// Derives the numbers of the first table. Those of the second table, about
// whole stages, are derived by `foretrace explain --memory` and `--messages`.
#include "backends/Locate.h"
#include "analysis/LayerCounts.h"
#include "backends/Backends.h"
#include "backends/plan/Rows.h"
#include "lang/NumberText.h"
#include "llvm/Support/FormatVariadic.h"

using llvm::createStringError;
using llvm::Expected;
using llvm::formatv;
using llvm::StringRef;

namespace foretrace::plan {

static std::string nameOf(StringRef What, IndexRange R) {
  return (What + (R.Count == 1 ? " " : "s ")).str() + printRange(R, "..");
}

static Subject locateRow(const ir::Program &P, const Partition &Of,
                         int64_t Index) {
  const FigureMaker Make(P.Spec, Of.Sizes);
  const PartitionRow &R = Of.Rows[static_cast<size_t>(Index - 1)];
  return {formatv("row {0}, {1}, {2}: {3}", Index, nameOf("stage", R.Stages),
                  nameOf("chunk", R.Chunks), describe(*R.Layers, P)),
          {P.Spec.Model.LayersRange, "stages", ""},
          {Make.make("parameters", R.From.Parameters),
           Make.make("weights", R.From.ParameterBytes),
           Make.make("kept", R.From.Activations),
           Make.make("flops", R.From.Work),
           R.Work.derive(Make, "share of all flops", "flops", "FLOPs"),
           Make.make("sent", R.SentFrom)}};
}

static Subject locateBalance(const ir::Program &P, const Partition &Of,
                             int64_t Index) {
  const FigureMaker Make(P.Spec, Of.Sizes);
  return {
      formatv("row {0}, largest stage / mean stage", Index),
      {P.Spec.Model.LayersRange, "stages", ""},
      {Of.ParameterImbalance.derive(Make, "parameters", "largest", "elements"),
       Of.WorkImbalance.derive(Make, "flops", "largest", "FLOPs")}};
}

/// Derives a row, from 1, of the first table: parameters, saved activations,
/// FLOPs and messages of a chunk. The row after the last one is the imbalance
/// of the stages.
Expected<Subjects> locate(const EmitRequest &Request, const Options &,
                          const CellQuery &Asked) {
  const PlanRows Of = makeRows(Request.Figures);
  if (Of.IsOverflow)
    return createStringError("--emit: a stage is larger than can be counted");
  const auto Count = static_cast<int64_t>(Of.Rows.size());
  const int64_t Index = *Asked.Row;
  if (Index < 1 || Index > Count + 1)
    return createStringError(
        formatv("--row: the table has {0} rows, from 1, and a line below them",
                Count)
            .str());
  return Subjects{Index > Count ? locateBalance(Request.Program, Of, Index)
                                : locateRow(Request.Program, Of, Index)};
}

} // namespace foretrace::plan
