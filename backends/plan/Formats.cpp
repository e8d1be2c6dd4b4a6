// SPDX-License-Identifier: Apache-2.0
#include "backends/plan/Formats.h"
#include "analysis/DeviceMemory.h"
#include "analysis/LayerCounts.h"
#include "backends/figures/JobTables.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using llvm::formatv;
using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::plan;

/// Returns the groups of all stages, by first use.
static std::vector<Group> groupsOf(const Program &P) {
  std::vector<Group> Groups;
  for (const Stage &S : P.Stages)
    for (const GroupBytes &G : S.Totals.Messages)
      if (!llvm::is_contained(Groups, G.Of))
        Groups.push_back(G.Of);
  return Groups;
}

static Bytes messagesOf(const Program &P, const Stage &S, const Group &G) {
  for (const GroupBytes &Known : S.Totals.Messages)
    if (Known.Of == G)
      return P.Sizes.value(Known.Size);
  return Bytes(0);
}

/// The estimated times of a rank, a line for each kind of stage.
static void writeTimes(const PlanRows &R, RowFormat As, bool IsExact,
                       llvm::raw_ostream &OS) {
  FigureTable T = makeTimeTable(*R.Times);
  T.Columns.front() = {"stages", FigureUnit::Count, "stage"};
  writeTable(T, As, IsExact, OS);
}

/// A table for people, a line for each kind of stage.
static void writeStages(const Program &P, const PlanRows &R, RowFormat As,
                        bool IsExact, llvm::raw_ostream &OS) {
  const std::vector<Group> Groups = groupsOf(P);
  FigureTable T{"stages", "", {{"stages", FigureUnit::Count, "stage"}}, {}};
  for (const FigureId Id : R.MemoryColumns)
    T.Columns.push_back({getInfo(Id).Name, FigureUnit::Bytes});
  std::vector<std::string> Names;
  for (const Group &G : Groups)
    Names.push_back(textOf(G, P.Spec, P.Mesh));
  for (const std::string &Name : Names)
    T.Columns.push_back({Name, FigureUnit::Bytes});
  for (const auto &[S, Figures] : llvm::zip_equal(P.Stages, R.Stages.Rows)) {
    std::vector<Figure> &Row = T.Rows.emplace_back();
    Row.push_back(Figures.front());
    for (const FigureId Id : R.MemoryColumns)
      Row.push_back(Figures[R.Stages.columnOf(getInfo(Id).Name)]);
    for (const Group &G : Groups)
      Row.push_back(messagesOf(P, S, G).value());
  }
  writeTable(T, As, IsExact, OS);
}

/// Returns all figures of stages and, if they were asked for, their times.
static FigureTable tableOfStages(const PlanRows &R) {
  FigureTable All = R.Stages;
  if (!R.Times)
    return All;
  const FigureTable Times = makeTimeTable(*R.Times);
  for (const FigureColumn &C : llvm::drop_begin(Times.Columns))
    All.Columns.push_back(C);
  for (const auto &[To, Row] : llvm::zip_equal(All.Rows, Times.Rows))
    To.insert(To.end(), Row.begin() + 1, Row.end());
  return All;
}

/// Columns of CSV, each after a comma: their names, and what they are for a
/// stage, in bytes and ns.
static void writeStageColumns(const Program &P, const PlanRows &R,
                              llvm::raw_ostream &OS) {
  for (const FigureId Id : R.MemoryColumns)
    OS << ",stage_" << getInfo(Id).Name;
  for (const Group &G : groupsOf(P)) {
    std::string Name = textOf(G, P.Spec, P.Mesh);
    std::replace(Name.begin(), Name.end(), ',', '-');
    OS << ",stage_messages_" << Name;
  }
  if (!R.Times)
    return;
  const FigureTable Times = makeTimeTable(*R.Times);
  for (const FigureColumn &C : llvm::drop_begin(Times.Columns))
    OS << ",stage_" << C.Key;
}

static void writeStageColumns(const Program &P, const PlanRows &R,
                              const Stage &S, llvm::raw_ostream &OS) {
  const auto Index = static_cast<size_t>(&S - P.Stages.data());
  for (const FigureId Id : R.MemoryColumns)
    OS << ','
       << exact(R.Stages.Rows[Index][R.Stages.columnOf(getInfo(Id).Name)]);
  for (const Group &G : groupsOf(P))
    OS << ',' << messagesOf(P, S, G).value();
  if (!R.Times)
    return;
  const FigureTable Times = makeTimeTable(*R.Times);
  for (const Figure &F : llvm::drop_begin(Times.Rows[Index]))
    OS << ',' << exact(F);
}

static void writePeak(const Program &P, const Peak &Most, bool IsExact,
                      llvm::raw_ostream &OS) {
  const auto Size = [&](int64_t Bytes) {
    return describe(Bytes, FigureUnit::Bytes, IsExact);
  };
  OS << formatv("peak memory per rank: {0}, on stage {1} in {2}",
                Size(Most.Bytes), printRange(Most.Stages), getName(Most.Phase));
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
                {{"stages", FigureUnit::Count, "stage"},
                 {"chunks", FigureUnit::Count, "chunk"},
                 {"layers", FigureUnit::Text},
                 {"parameters", FigureUnit::LargeCount},
                 {"weights", FigureUnit::Bytes},
                 {"kept", FigureUnit::Bytes, "saved"},
                 {"flops", FigureUnit::Count, "FLOPs"},
                 {"sent", FigureUnit::Bytes}},
                {}};
  for (const PartitionRow &Row : R.Rows)
    T.Rows.push_back({Row.Stages, Row.Chunks, describe(*Row.Layers, P),
                      Row.Of.Parameters.value(), Row.Of.ParameterBytes.value(),
                      Row.Of.Activations.value(), Row.Of.Work.value(),
                      Row.Sent.value()});
  return T;
}

/// Returns the table for people, with shares of the FLOPs in place of FLOPs.
static FigureTable tableOfShares(const Program &P, const PlanRows &R) {
  FigureTable T = tableOfChunks(P, R);
  const size_t Work = T.columnOf("flops");
  for (const auto &[Cells, Row] : llvm::zip_equal(T.Rows, R.Rows))
    Cells[Work] =
        formatv("{0:f1} %", static_cast<double>(Row.Work.Permille) / 10).str();
  return T;
}

/// Sentences between tables are paragraphs of Markdown.
void foretrace::plan::writeTables(const Program &P, const PlanRows &R,
                                  RowFormat As, bool IsExact,
                                  llvm::raw_ostream &OS) {
  const llvm::StringRef Before = As == RowFormat::Markdown ? "\n" : "";
  writeTable(tableOfShares(P, R), As, IsExact, OS);
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
  if (P.Spec.Serve)
    OS << "of a step, without the cache: see `foretrace memory`\n";
  else
    writePeak(P, R.Most, IsExact, OS);
  if (!R.Times)
    return;
  OS << "\nestimated times per rank: a micro-batch forward and backward, all "
        "of them, and an iteration\n"
     << Before;
  writeTimes(R, As, IsExact, OS);
  OS << Before
     << formatv("estimated time of an iteration: {0}\n",
                describe(R.Times->Total.value(), FigureUnit::Time, IsExact));
}

/// Returns the plan for programs: numbers, which have no titles, and tables.
static Figures figuresOf(const Program &P, const PlanRows &R) {
  Figures F{"foretrace.plan/2", {}, {}, {}, {}};
  auto Add = [&](llvm::StringLiteral Key, FigureUnit U, Figure Is) {
    F.Named.push_back({Key, "", U, std::move(Is)});
  };
  Add("model", FigureUnit::Text, P.Spec.Model.Name);
  Add("pp", FigureUnit::Count, P.Schedule.Stages);
  Add("chunks_per_stage", FigureUnit::Count, P.Schedule.Chunks);
  Add("partition_parameters_largest_of_mean_permille", FigureUnit::Count,
      R.ParameterImbalance.Permille);
  Add("partition_flops_largest_of_mean_permille", FigureUnit::Count,
      R.WorkImbalance.Permille);
  if (R.EvenParameters)
    Add("even_split_parameters_permille", FigureUnit::Count, *R.EvenParameters);
  if (R.EvenWork)
    Add("even_split_flops_permille", FigureUnit::Count, *R.EvenWork);
  if (R.Times)
    Add("time", FigureUnit::Time, R.Times->Total.value());
  if (!P.Spec.Serve) {
    Add("peak", FigureUnit::Bytes, R.Most.Bytes);
    Add("peak_stages", FigureUnit::Text, R.Most.Stages);
    Add("peak_phase", FigureUnit::Text, getName(R.Most.Phase).str());
  }
  if (const auto Room = deviceMemoryOf(P.Spec); Room && !P.Spec.Serve) {
    Add("device_memory", FigureUnit::Bytes, Room->Bytes);
    Add("reserved", FigureUnit::Bytes, Room->Reserved);
    Add("fits", FigureUnit::Flag, int64_t(Room->fits(R.Most.Bytes)));
  }
  F.Tables = {tableOfChunks(P, R), tableOfStages(R),
              makeMessageTable(ExprOverlay(P))};
  return F;
}

void foretrace::plan::writeJSON(const Program &P, const PlanRows &R,
                                llvm::raw_ostream &OS) {
  write(figuresOf(P, R), RowFormat::JSON, /*IsExact=*/true, OS);
}

void foretrace::plan::writeCSV(const Program &P, const PlanRows &R,
                               llvm::raw_ostream &OS) {
  OS << "first_stage,last_stage,first_chunk,last_chunk,layers,parameters,"
        "weights,kept,flops,sent";
  writeStageColumns(P, R, OS);
  OS << '\n';
  for (const PartitionRow &Row : R.Rows) {
    OS << Row.Stages.First << ',' << Row.Stages.last() << ','
       << Row.Chunks.First << ',' << Row.Chunks.last() << ','
       << describe(*Row.Layers, P) << ',' << Row.Of.Parameters.value() << ','
       << Row.Of.ParameterBytes.value() << ',' << Row.Of.Activations.value()
       << ',' << Row.Of.Work.value() << ',' << Row.Sent.value();
    writeStageColumns(P, R, stageAt(P.Stages, Row.Stages.First), OS);
    OS << '\n';
  }
}
