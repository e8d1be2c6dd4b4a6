// SPDX-License-Identifier: Apache-2.0
//
// The tables of a sweep's database. Private to the sweep.
#pragma once

#include "tools/sweep/Connection.h"
#include "tools/sweep/Engine.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::sweep {

/// The database of a sweep, to be read. An error if there is none at \p Path.
llvm::Expected<Connection> openToRead(llvm::StringRef Path);

/// \p Text between \p Quote, as SQL has it.
std::string quoted(llvm::StringRef Text, char Quote);

/// A row of the table `sweep`, by which a later run recognizes the sweep.
struct SweepProperty {
  std::string Name, Value;
};
std::vector<SweepProperty> propertiesOf(const Sweep &S);

/// Writes SQL that makes the tables, with the facts that need no point.
void writeSchema(const Sweep &S, llvm::raw_ostream &OS);

/// A figure that a script of points prints: `script` and `name` of the table
/// `figures`.
struct ScriptFigure {
  std::string Script, Name;
};
/// SQL that makes the views of the table `figures`: `results` has a row for
/// each point and script, and `simulated` one for each point with a result,
/// with all columns of `points`. \p Figures are their columns.
void writeFigureViews(llvm::ArrayRef<ScriptFigure> Figures,
                      llvm::raw_ostream &OS);

/// SQL with a parameter for the number of a point and one for each metric.
std::string insertPoint(const SweepSpec &S);
/// A name as SQL has it.
std::string quotedName(llvm::StringRef Name);
/// The columns of the table `metrics` after the first one: those of
/// `allFigures`, then those of the sweep.
std::vector<std::string> metricColumns(const SweepSpec &S);
/// Returns the rows of the table `sweep`, values by name.
llvm::Expected<llvm::StringMap<std::string>> readFacts(Connection &C);
/// Returns the metrics of the file \p Schema of \p C.
llvm::Expected<std::vector<std::string>>
readMetrics(Connection &C, llvm::StringRef Schema = "main");
/// Returns how the metrics \p Own of another version differ from \p Wanted.
std::string otherMetrics(llvm::ArrayRef<std::string> Own,
                         llvm::ArrayRef<std::string> Wanted);
/// Returns SQL that adds the rejections in \p Rows to the existing ones.
std::string insertRejection(llvm::StringRef Rows);

/// Returns the view whose rows are points with \p Columns, which option \p Flag
/// names: `points`, or `simulated` if a column is a figure. An error if there
/// is no such column.
llvm::Expected<llvm::StringRef>
viewWith(Connection &C, llvm::StringRef Flag,
         llvm::ArrayRef<llvm::StringRef> Columns);

/// Returns the number of points that are accepted or rejected.
llvm::Expected<int64_t> countPoints(Connection &C);

} // namespace foretrace::sweep
