// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Schema.h"
#include "passes/analyses/Metrics.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace foretrace::sweep {

/// \p Text between \p Quote, as SQL has it.
static std::string quoted(StringRef Text, char Quote) {
  std::string Out(1, Quote);
  for (const char C : Text)
    Out.append(C == Quote ? 2 : 1, C);
  return Out + Quote;
}

std::vector<Fact> factsOf(const Sweep &S, StringRef Sources) {
  std::string Axes;
  for (const Axis &A : S.Space.axes()) {
    Axes += (Axes.empty() ? "" : " ") + A.Name + "=";
    interleave(
        A.Values, [&](const std::string &Value) { Axes += Value; },
        [&] { Axes += ","; });
  }
  return {{"version", FORETRACE_VERSION},
          {"job", S.Job},
          {"sources", Sources.str()},
          {"axes", Axes},
          {"points", std::to_string(S.Space.size())},
          {"shard", S.Of.text()},
          {"units", std::to_string(Engine(S).units())}};
}

void writeSchema(const Sweep &S, StringRef Sources, raw_ostream &OS) {
  OS << "CREATE TABLE sweep (name TEXT PRIMARY KEY, value TEXT NOT NULL);\n"
        "CREATE TABLE axis_values (axis INTEGER, position INTEGER, value, "
        "PRIMARY KEY (axis, position)) WITHOUT ROWID;\n"
        "CREATE TABLE units (unit INTEGER PRIMARY KEY);\n"
        "CREATE TABLE rejections (slug TEXT, key TEXT, count INTEGER, example "
        "INTEGER, PRIMARY KEY (slug, key)) WITHOUT ROWID;\n"
        "CREATE TABLE metrics (id INTEGER PRIMARY KEY";
  for (const Metric &M : allMetrics())
    OS << ", " << M.Name << " INTEGER";
  OS << ");\n";
  for (const Fact &F : factsOf(S, Sources))
    OS << "INSERT INTO sweep VALUES (" << quoted(F.Name, '\'') << ", "
       << quoted(F.Value, '\'') << ");\n";
  // A point's values follow from its number: they are not stored.
  std::string View = "CREATE VIEW points AS SELECT id";
  for (const auto &[Index, A] : enumerate(S.Space.axes())) {
    for (const auto &[Position, Value] : enumerate(A.Values)) {
      int64_t Number;
      OS << "INSERT INTO axis_values VALUES (" << Index << ", " << Position
         << ", "
         << (StringRef(Value).getAsInteger(10, Number) ? quoted(Value, '\'')
                                                       : Value)
         << ");\n";
    }
    View += (", (SELECT value FROM axis_values WHERE axis = " + Twine(Index) +
             " AND position = id / " + Twine(S.Space.stride(Index)) + " % " +
             Twine(A.Values.size()) + ") AS " + quoted(A.Name, '"'))
                .str();
  }
  OS << View;
  for (const Metric &M : allMetrics())
    OS << ", " << M.Name;
  OS << " FROM metrics;\n";
}

std::string insertRejection(StringRef Rows) {
  return ("INSERT INTO rejections " + Rows +
          " ON CONFLICT DO UPDATE SET count = count + excluded.count, "
          "example = min(example, excluded.example)")
      .str();
}

std::string insertPoint() {
  std::string SQL = "INSERT INTO metrics VALUES (?";
  for (size_t I = 0; I < allMetrics().size(); ++I)
    SQL += ", ?";
  return SQL + ")";
}

Expected<int64_t> countPoints(Connection &C) {
  return C.number("SELECT (SELECT count(*) FROM metrics) + (SELECT "
                  "coalesce(sum(count), 0) FROM rejections)");
}

} // namespace foretrace::sweep
