// SPDX-License-Identifier: Apache-2.0
//
// A row of a SimAI table. Its cells know their collectives: backends/simai says
// which row they stand in.
#include "backends/simai/Exact.h"
#include "tools/explain/Emitted.h"
#include "tools/explain/Explain.h"
#include "tools/explain/Ops.h"
#include "tools/explain/Times.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::explain {

/// The options of the first block that asks for a table of the IR; of one that
/// says nothing if there is no block.
static Expected<simai::Options> findOptions(const ir::Spec &Job) {
  simai::Options Options;
  bool HasBlock = false;
  for (const ir::EmitSpec &E : Job.Emits) {
    if (E.Backend != "simai")
      continue;
    DiagnosticEngine Diags;
    Options = simai::readOptions(E, Diags);
    if (Diags.hasErrors())
      return errorOf("--emit", Diags);
    if (Options.Accounting == simai::Accounting::Exact)
      return Options;
    HasBlock = true;
  }
  if (HasBlock)
    return createStringError(
        "--emit: with `accounting = aicb` rows are formulas of the public "
        "generator, not sizes of the IR; only `accounting = exact` is "
        "explained");
  return Options;
}

static Expected<const ir::Stage *> findStage(const ir::Program &P,
                                             simai::StageChoice Choice,
                                             std::optional<int64_t> Stage) {
  if (Stage)
    Choice = {simai::StageChoice::Kind::Number, *Stage, {}};
  DiagnosticEngine Diags;
  const std::vector<const ir::Stage *> Stages =
      simai::chosenStages(P, Choice, Diags);
  if (Stages.size() == 1)
    return Stages.front();
  if (Stages.empty())
    return errorOf("--stage", Diags);
  return createStringError("--emit: each kind of stage has a table; say with "
                           "--stage which one is meant");
}

/// A row that takes longer than the simulator can count is written as several.
static Figure timeOf(TimeMaker &Times, const simai::Cell &C) {
  Figure Whole = Times.make("time", C.Timed);
  if (Whole.Value != C.Time) {
    Whole.What = "time, a share of what its ops take";
    Whole.Value = C.Time;
  }
  return Whole;
}

Expected<Subjects> explainSimaiRow(const ir::Program &P, int64_t Index,
                                   std::optional<int64_t> Stage) {
  Expected<simai::Options> Options = findOptions(P.Spec);
  if (!Options)
    return Options.takeError();
  if (Options->Adapt)
    return createStringError("--emit: `adapt` changes the rows of the table; "
                             "without it they are explained");
  Expected<const ir::Stage *> Of = findStage(P, Options->Stage, Stage);
  if (!Of)
    return Of.takeError();
  simai::LeftOut Unsaid; // for whoever emits to report
  const simai::Table Table = simai::exactTable(P, **Of, "", Unsaid);
  const simai::RowCount Rows = Table.rowCount();
  if (Rows.isOverflow())
    return createStringError("--row: the table has 2^63 rows or more");
  if (Index < 1 || Index > Rows.value())
    return createStringError(
        formatv("--row: the table has {0} rows, from 1", Rows.value()).str());

  const simai::Row Row = simai::rowAt(Table, Index - 1);
  Subjects Found;
  const FigureMaker Make(P);
  TimeMaker Times(P);
  const std::pair<StringRef, const simai::Cell *> Columns[] = {
      {"forward", &Row.Forward},
      {"backward", &Row.Backward},
      {"update", &Row.Update}};
  for (const auto &[Name, Cell] : Columns) {
    const ir::Op *O = Cell->Collective;
    if (!O && Cell->Timed.empty())
      continue;
    Subject S;
    if (O) {
      S = describeOp(P, *O);
      S.Figures.push_back(Make.make("message", O->Message));
    } else {
      S.What = "no message";
    }
    S.What =
        formatv("row {0}, {1}, column {2}: {3}", Index, Row.Name, Name, S.What);
    if (!Cell->Timed.empty())
      S.Figures.push_back(timeOf(Times, *Cell));
    Found.push_back(std::move(S));
  }
  return Found;
}

} // namespace foretrace::explain
