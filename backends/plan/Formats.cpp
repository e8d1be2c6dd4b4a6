// SPDX-License-Identifier: Apache-2.0
#include "backends/plan/Formats.h"
#include "analysis/DeviceMemory.h"
#include "analysis/LayerCounts.h"
#include "backends/figures/Figures.h"
#include "backends/plan/StageSums.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::plan;
using llvm::formatv;

std::string foretrace::plan::text(IndexRange R) {
  return std::to_string(R.First) +
         (R.Count > 1 ? "-" + std::to_string(R.First + R.Count - 1) : "");
}

static void writePeak(const Program &P, const Peak &Most, bool IsExact,
                      llvm::raw_ostream &OS) {
  const auto Size = [&](int64_t Bytes) {
    return describe(Bytes, FigureUnit::Bytes, IsExact);
  };
  OS << formatv("peak memory per rank: {0}, on stage {1} in {2}",
                Size(Most.Bytes), Most.Stages, getName(Most.Phase));
  if (const auto Room = deviceMemoryOf(P.Spec))
    OS << formatv("; with the {0} reserved, it {1} the device memory of {2}",
                  Size(Room->Reserved),
                  Room->fits(Most.Bytes) ? "fits in" : "exceeds",
                  Size(Room->Bytes));
  OS << '\n';
}

static FigureTable tableOfChunks(const Program &P, const PlanRows &R) {
  FigureTable T{"chunks",
                "",
                {{"stage", FigureUnit::Count},
                 {"chunk", FigureUnit::Count},
                 {"layers", FigureUnit::Text},
                 {"parameters", FigureUnit::LargeCount},
                 {"weights", FigureUnit::Bytes},
                 {"saved", FigureUnit::Bytes},
                 {"FLOPs", FigureUnit::Count},
                 {"sent", FigureUnit::Bytes}},
                {}};
  for (const PartitionRow &Row : R.Rows)
    T.Rows.push_back(
        {text(Row.Stages), text(Row.Chunks), describe(*Row.Layers, P),
         Row.Of.Parameters.value(), Row.Of.ParameterBytes.value(),
         Row.Of.Activations.value(),
         formatv("{0:f1} %", static_cast<double>(Row.Work.Permille) / 10).str(),
         Row.Sent.value()});
  return T;
}

/// Sentences between tables are paragraphs of Markdown.
void foretrace::plan::writeTables(const Program &P, const PlanRows &R,
                                  RowFormat As, bool IsExact,
                                  llvm::raw_ostream &OS) {
  const llvm::StringRef Before = As == RowFormat::Markdown ? "\n" : "";
  writeTable(tableOfChunks(P, R), As, IsExact, OS);
  OS << Before
     << formatv("largest stage / mean stage: {0:f3} in parameters, {1:f3} in "
                "FLOPs\n",
                static_cast<double>(R.ParameterImbalance.Permille) / 1000,
                static_cast<double>(R.WorkImbalance.Permille) / 1000);
  if (R.EvenParameters && R.EvenWork &&
      *P.Spec.Parallel.Partition != PartitionKind::Uniform)
    OS << Before
       << formatv("largest stage of a uniform split / of this one: {0:f3} in "
                  "parameters, {1:f3} in FLOPs\n",
                  static_cast<double>(*R.EvenParameters) / 1000,
                  static_cast<double>(*R.EvenWork) / 1000);
  OS << "\nmemory per rank, and messages per iteration by group"
     << (P.Spec.Train.ExpertLoad.isPresent() ? ", of the most loaded rank\n"
                                             : "\n")
     << Before;
  writeStages(P, R, As, IsExact, OS);
  OS << Before;
  writePeak(P, R.Most, IsExact, OS);
  if (!R.Times)
    return;
  OS << "\nestimated times per rank: a micro-batch forward and backward, all "
        "of them, and an iteration\n"
     << Before;
  writeTimes(P, R, As, IsExact, OS);
  OS << Before
     << formatv("estimated time of an iteration: {0}\n",
                describe(R.Times->Total.value(), FigureUnit::Time, IsExact));
}

void foretrace::plan::writeJSON(const Program &P, const PlanRows &R,
                                llvm::raw_ostream &OS) {
  llvm::json::OStream J(OS, 2);
  auto Pair = [&](llvm::StringRef Key, IndexRange Of) {
    J.attributeArray(Key, [&] {
      J.value(Of.First);
      J.value(Of.First + Of.Count - 1);
    });
  };
  J.object([&] {
    J.attribute("model", P.Spec.Model.Name);
    J.attribute("pp", P.Schedule.Stages);
    J.attribute("vpp", P.Schedule.Chunks);
    J.attribute("partition_parameters_largest_of_mean_permille",
                R.ParameterImbalance.Permille);
    J.attribute("partition_flops_largest_of_mean_permille",
                R.WorkImbalance.Permille);
    if (R.EvenParameters)
      J.attribute("even_split_parameters_permille", *R.EvenParameters);
    if (R.EvenWork)
      J.attribute("even_split_flops_permille", *R.EvenWork);
    J.attributeArray("chunks", [&] {
      for (const PartitionRow &Row : R.Rows)
        J.object([&] {
          Pair("stages", Row.Stages);
          Pair("chunks", Row.Chunks);
          J.attribute("layers", describe(*Row.Layers, P));
          J.attribute("parameters", Row.Of.Parameters.value());
          J.attribute("parameter_bytes", Row.Of.ParameterBytes.value());
          J.attribute("kept_activation_bytes", Row.Of.Activations.value());
          J.attribute("flops", Row.Of.Work.value());
          J.attribute("sent_bytes", Row.Sent.value());
        });
    });
    writeStages(P, R, J);
    if (R.Times)
      J.attribute("time_ns", R.Times->Total.value());
    J.attribute("peak_bytes", R.Most.Bytes);
    J.attribute("peak_stages", R.Most.Stages);
    J.attribute("peak_phase", getName(R.Most.Phase));
    if (const auto Room = deviceMemoryOf(P.Spec)) {
      J.attribute("device_memory_bytes", Room->Bytes);
      J.attribute("device_reserved_bytes", Room->Reserved);
      J.attribute("fits", Room->fits(R.Most.Bytes));
    }
  });
  J.flush();
  OS << '\n';
}

void foretrace::plan::writeCSV(const Program &P, const PlanRows &R,
                               llvm::raw_ostream &OS) {
  OS << "first_stage,last_stage,first_chunk,last_chunk,layers,parameters,"
        "parameter_bytes,kept_activation_bytes,flops,sent_bytes";
  writeStageColumns(P, R, OS);
  OS << '\n';
  for (const PartitionRow &Row : R.Rows) {
    OS << Row.Stages.First << ',' << Row.Stages.First + Row.Stages.Count - 1
       << ',' << Row.Chunks.First << ','
       << Row.Chunks.First + Row.Chunks.Count - 1 << ','
       << describe(*Row.Layers, P) << ',' << Row.Of.Parameters.value() << ','
       << Row.Of.ParameterBytes.value() << ',' << Row.Of.Activations.value()
       << ',' << Row.Of.Work.value() << ',' << Row.Sent.value();
    writeStageColumns(P, R, stageAt(P.Stages, Row.Stages.First), OS);
    OS << '\n';
  }
}
