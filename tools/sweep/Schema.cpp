// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Schema.h"
#include "analysis/Figures.h"
#include "lang/DidYouMean.h"
#include "lang/Version.h"
#include "tools/sweep/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace foretrace::sweep {

Expected<Connection> openToRead(StringRef Path) {
  if (!sys::fs::exists(Path))
    return createStringError("`" + Path + "`: there is no such file");
  Expected<Connection> C = Connection::open(Path, Connection::Mode::Read);
  if (!C)
    return C.takeError();
  Expected<int64_t> Own =
      C->number("SELECT count(*) FROM sqlite_master WHERE name = 'sweep'");
  if (!Own)
    return Own.takeError();
  if (*Own == 0)
    return createStringError("`" + Path + "`: is no database of a sweep");
  return C;
}

std::string quoted(StringRef Text, char Quote) {
  std::string Out(1, Quote);
  for (const char C : Text)
    Out.append(C == Quote ? 2 : 1, C);
  return Out + Quote;
}

std::string quotedName(StringRef Name) { return quoted(Name, '"'); }

std::vector<std::string> metricColumns(const SweepSpec &S) {
  std::vector<std::string> Columns;
  for (const FigureInfo &M : allFigures())
    Columns.push_back(quotedName(M.Name));
  for (const SweepSpec::Metric &M : S.Metrics)
    Columns.push_back(quotedName(M.Name));
  return Columns;
}

Expected<StringMap<std::string>> readFacts(Connection &C) {
  StringMap<std::string> Facts;
  if (Error E = C.forEachRow("SELECT name, value FROM sweep",
                             [&](const SqlStatement &Row) {
                               Facts[Row.textAt(0)] = Row.textAt(1).str();
                             }))
    return E;
  return Facts;
}

Expected<std::vector<std::string>> readMetrics(Connection &C,
                                               StringRef Schema) {
  std::vector<std::string> Columns;
  if (Error E = C.forEachRow("SELECT name FROM pragma_table_info('metrics', " +
                                 quoted(Schema, '\'') + ") WHERE name != 'id'",
                             [&](const SqlStatement &Row) {
                               Columns.push_back(quotedName(Row.textAt(0)));
                             }))
    return E;
  return Columns;
}

std::string otherMetrics(ArrayRef<std::string> Own,
                         ArrayRef<std::string> Wanted) {
  std::string Missing;
  for (const StringRef Name : Wanted)
    if (!is_contained(Own, Name))
      Missing += (Missing.empty() ? ": it lacks `" : ", `") +
                 Name.drop_front().drop_back().str() + "`";
  return "is of another version of foretrace: its points have " +
         std::to_string(Own.size()) + " metrics, not these " +
         std::to_string(Wanted.size()) + Missing;
}

std::vector<SweepProperty> propertiesOf(const Sweep &S) {
  const SweepSpec &Spec = S.Space.spec();
  std::string Axes, Where, Metrics;
  for (const SweepSpec::Axis &A : Spec.Axes)
    for (const SweepSpec::Key &K : A.Keys) {
      Axes += (Axes.empty()            ? ""
               : &K == &A.Keys.front() ? " "
                                       : "&") +
              K.Name + "=" + join(K.Values, ",");
    }
  for (const SweepSpec::Condition &C : Spec.Conditions)
    Where += (Where.empty() ? "" : "\n") + C.Text;
  for (const SweepSpec::Metric &M : Spec.Metrics)
    Metrics += (Metrics.empty() ? "" : "\n") + M.Name + " = " + M.Text;
  return {
      {"version", FORETRACE_VERSION},
      {"job", S.Job},
      {"sources", S.Sources},
      {"axes", Axes},
      {"where", Where},
      {"metrics", Metrics},
      {"keep", Choice::of(Spec).text()},
      {"best", Choice::best(Spec).text()},
      {"points", std::to_string(S.Space.size())},
      {"shard", S.Of.text()},
      {"units", std::to_string(Engine(S).units())},
      {"command", commandOf(S)},
      {"usable_memory", S.UsableMemory ? std::to_string(*S.UsableMemory) : ""}};
}

void writeSchema(const Sweep &S, raw_ostream &OS) {
  OS << "CREATE TABLE sweep (name TEXT PRIMARY KEY, value TEXT NOT NULL);\n"
        "CREATE TABLE axis_values (axis INTEGER, position INTEGER, value, "
        "PRIMARY KEY (axis, position)) WITHOUT ROWID;\n"
        "CREATE TABLE units (unit INTEGER PRIMARY KEY, accepted INTEGER, "
        "unfit INTEGER, best INTEGER, best_value INTEGER, best_time INTEGER, "
        "equal INTEGER);\n"
        "CREATE TABLE files (path TEXT PRIMARY KEY, digest TEXT) WITHOUT "
        "ROWID;\n"
        "CREATE TABLE figures (id INTEGER, script TEXT, name TEXT, value "
        "NUMERIC, PRIMARY KEY (id, script, name)) WITHOUT ROWID;\n"
        "CREATE TABLE rejections (slug TEXT, key TEXT, count INTEGER, example "
        "INTEGER, PRIMARY KEY (slug, key)) WITHOUT ROWID;\n"
        "CREATE TABLE metrics (id INTEGER PRIMARY KEY";
  const std::vector<std::string> Metrics = metricColumns(S.Space.spec());
  for (const std::string &Name : Metrics)
    OS << ", " << Name << " INTEGER";
  OS << ");\n";
  for (const SweepProperty &F : propertiesOf(S))
    OS << "INSERT INTO sweep VALUES (" << quoted(F.Name, '\'') << ", "
       << quoted(F.Value, '\'') << ");\n";
  // A point's values follow from its number: they are not stored.
  std::string View = "CREATE VIEW points AS SELECT id";
  size_t Column = 0;
  for (const auto &[Index, A] : enumerate(S.Space.axes()))
    for (const SweepSpec::Key &K : A.Keys) {
      for (const auto &[Position, Value] : enumerate(K.Values)) {
        int64_t Number;
        OS << "INSERT INTO axis_values VALUES (" << Column << ", " << Position
           << ", "
           << (StringRef(Value).getAsInteger(10, Number) ? quoted(Value, '\'')
                                                         : Value)
           << ");\n";
      }
      View +=
          (", (SELECT value FROM axis_values WHERE axis = " + Twine(Column++) +
           " AND position = id / " + Twine(S.Space.stride(Index)) + " % " +
           Twine(A.size()) + ") AS " + quoted(K.Name, '"'))
              .str();
    }
  OS << View;
  for (const std::string &Name : Metrics)
    OS << ", " << Name;
  OS << " FROM metrics;\n";
  writeFigureViews({}, OS);
}

void writeFigureViews(ArrayRef<ScriptFigure> Figures, raw_ostream &OS) {
  const bool IsOfOneScript = all_of(Figures, [&](const ScriptFigure &F) {
    return F.Script == Figures.front().Script;
  });
  SetVector<StringRef> Names;
  Names.insert("ns");
  for (const ScriptFigure &F : Figures)
    Names.insert(F.Name);
  OS << "DROP VIEW IF EXISTS results; DROP VIEW IF EXISTS simulated;\n"
        "CREATE VIEW results AS SELECT id, script";
  for (const StringRef Name : Names)
    OS << ", max(CASE name WHEN " << quoted(Name, '\'')
       << " THEN value END) AS " << quotedName(Name);
  OS << " FROM figures GROUP BY id, script;\n"
        "CREATE VIEW simulated AS SELECT points.*";
  for (const ScriptFigure &F : Figures)
    OS << ", (SELECT value FROM figures WHERE id = points.id AND script = "
       << quoted(F.Script, '\'') << " AND name = " << quoted(F.Name, '\'')
       << ") AS "
       << quotedName(IsOfOneScript ? F.Name : F.Script + ":" + F.Name);
  OS << " FROM points WHERE id IN (SELECT id FROM figures);\n";
}

std::string insertRejection(StringRef Rows) {
  return ("INSERT INTO rejections " + Rows +
          " ON CONFLICT DO UPDATE SET count = count + excluded.count, "
          "example = min(example, excluded.example)")
      .str();
}

std::string insertPoint(const SweepSpec &S) {
  std::string SQL = "INSERT INTO metrics VALUES (?";
  for (size_t I = 0; I < metricColumns(S).size(); ++I)
    SQL += ", ?";
  return SQL + ")";
}

Expected<StringRef> viewWith(Connection &C, StringRef Flag,
                             ArrayRef<StringRef> Columns) {
  std::vector<StringRef> All;
  Expected<SqlStatement> Points = C.prepare("SELECT * FROM points"),
                         Simulated = C.prepare("SELECT * FROM simulated");
  if (!Points || !Simulated)
    return joinErrors(Points.takeError(), Simulated.takeError());
  for (int Column = 1; Column < Simulated->columns(); ++Column)
    All.push_back(Simulated->name(Column));
  const auto OfPoints =
      ArrayRef(All).take_front(static_cast<size_t>(Points->columns()) - 1);
  StringRef View = "points";
  for (const StringRef Name : Columns) {
    if (is_contained(OfPoints, Name))
      continue;
    View = "simulated";
    if (is_contained(All, Name))
      continue;
    const StringRef Nearest = nearestWord(Name, All);
    return createStringError(
        Flag + ": there is no column `" + Name + "`" +
        (Nearest.empty() ? "" : " (did you mean `" + Nearest.str() + "`?)") +
        "; there are " + join(All, ", "));
  }
  return View;
}

Expected<int64_t> countPoints(Connection &C) {
  // With `keep = all`, the accepted points are the rows of metrics.
  return C.number(
      "SELECT CASE (SELECT value FROM sweep WHERE name = 'keep') WHEN 'all' "
      "THEN (SELECT count(*) FROM metrics) ELSE (SELECT "
      "coalesce(sum(accepted), "
      "0) FROM units) END + (SELECT coalesce(sum(count), 0) FROM rejections)");
}

} // namespace foretrace::sweep
