// SPDX-License-Identifier: Apache-2.0
//
// Derives the cells of a row, which have their collectives and ops.
#include "backends/Locate.h"
#include "analysis/Derivation.h"
#include "analysis/TimeDerivation.h"
#include "backends/Backends.h"
#include "backends/simai/Exact.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::simai {

/// Returns the options of the first block with `accounting = exact`; \p First
/// are those of the first block.
static Expected<Options> findExact(const ir::Spec &Job, const Options &First) {
  if (First.Accounting == Accounting::Exact)
    return First;
  for (const ir::EmitSpec &E : Job.Emits) {
    if (E.Backend != "simai")
      continue;
    DiagnosticEngine Diags;
    Options O = readOptions(E, Diags);
    if (Diags.hasErrors())
      return errorOf("--emit", Diags);
    if (O.Accounting == Accounting::Exact)
      return O;
  }
  return createStringError(
      "--emit: with `accounting = aicb` rows are formulas of the public "
      "generator, not sizes of the IR; only `accounting = exact` is "
      "explained");
}

static Expected<const ir::Stage *> findStage(const ir::Program &P,
                                             StageChoice Choice,
                                             std::optional<int64_t> Stage) {
  if (Stage)
    Choice = {StageChoice::Kind::Number, *Stage, {}};
  DiagnosticEngine Diags;
  const std::vector<const ir::Stage *> Stages = chosenStages(P, Choice, Diags);
  if (Stages.size() == 1)
    return Stages.front();
  if (Stages.empty())
    return errorOf("--stage", Diags);
  return createStringError("--emit: each kind of stage has a table; say with "
                           "--stage which one is meant");
}

/// Derives the time of a cell. A row that takes longer than the simulator can
/// count is written as several.
static DerivedFigure timeOf(TimeMaker &Times, const WorkloadCell &C) {
  DerivedFigure Whole = Times.make("time", C.Timed);
  if (Whole.Value != C.Time) {
    Whole.What = "time, a share of what its ops take";
    Whole.Value = C.Time;
  }
  return Whole;
}

/// Derives a row, from 1, of the table of the selected stage, or of the block's
/// stage if none is selected: the collective and the time in each column.
Expected<Subjects> locate(const EmitRequest &Request, const Options &First,
                          const CellQuery &Asked) {
  const ir::Program &P = Request.Program;
  const int64_t Index = *Asked.Row;
  Expected<Options> O = findExact(P.Spec, First);
  if (!O)
    return O.takeError();
  if (O->Adapt)
    return createStringError("--emit: `adapt` changes the rows of the table; "
                             "without it they are explained");
  Expected<const ir::Stage *> Of = findStage(P, O->Stage, Asked.Stage);
  if (!Of)
    return Of.takeError();
  LeftOut Unsaid; // reported when the table is emitted
  const WorkloadTable Table = exactTable(P, **Of, "", Unsaid);
  const RowCount Rows = Table.rowCount();
  if (Rows.isOverflow())
    return createStringError("--row: the table has 2^63 rows or more");
  if (Index < 1 || Index > Rows.value())
    return createStringError(
        formatv("--row: the table has {0} rows, from 1", Rows.value()).str());

  const WorkloadRow Row = rowAt(Table, Index - 1);
  Subjects Found;
  const FigureMaker Make(P);
  TimeMaker Times(P);
  const std::pair<StringRef, const WorkloadCell *> Columns[] = {
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

} // namespace foretrace::simai
