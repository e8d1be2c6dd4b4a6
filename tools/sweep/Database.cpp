// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Database.h"
#include "lang/ReadFile.h"
#include "tools/sweep/Digest.h"
#include "tools/sweep/Plot.h"
#include "tools/sweep/Schema.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace foretrace::sweep {

Error checkOutput(const InputFiles &Inputs, StringRef Path, bool HasPage) {
  // The last four are SQLite's, and that of a merge.
  for (const StringRef End : {"", ".lock", "-journal", "-wal", "-shm", ".part"})
    if (Error E = Inputs.check((Path + End).str()))
      return E;
  return HasPage ? Inputs.check(Plot::pathOf(Path)) : Error::success();
}

Error Database::create(const Sweep &S) {
  // Others read while this one writes; what is committed survives a kill.
  std::string SQL = "PRAGMA journal_mode = WAL; BEGIN IMMEDIATE;";
  raw_string_ostream OS(SQL);
  writeSchema(S, OS);
  OS << "COMMIT;";
  return C.run(SQL);
}

/// Returns how a property of the sweep differs from \p Value in a file.
static std::string whatDiffers(const SweepProperty &F, StringRef Value) {
  if (F.Name == "sources")
    return "a file, `-D` or an allowed warning has changed since";
  return "`" + F.Name + "` is `" + Value.str() + "`, not `" + F.Value + "`";
}

Error Database::checkSame(const Sweep &S) {
  Expected<StringMap<std::string>> Own = readFacts(C);
  if (!Own)
    return Own.takeError();
  for (const SweepProperty &F : propertiesOf(S))
    if (const std::string Value = Own->lookup(F.Name); Value != F.Value)
      return C.failure("is of another sweep: " + whatDiffers(F, Value) +
                       "; use another file with -o, or remove it");
  return Error::success();
}

/// Checks that its points have the metrics of this version.
Error Database::checkMetrics(const Sweep &S) {
  Expected<std::vector<std::string>> Own = readMetrics(C);
  if (!Own)
    return Own.takeError();
  const std::vector<std::string> Wanted = metricColumns(S.Space.spec());
  return *Own == Wanted ? Error::success()
                        : C.failure(otherMetrics(*Own, Wanted) +
                                    "; use another file with -o, or remove it");
}

/// Checks that the files that were read have not changed: those of the first
/// point alone are facts of the sweep.
Error Database::checkFiles() {
  return C.forEachRow(
      "SELECT path, digest FROM files", [&](const SqlStatement &Row) -> Error {
        const StringRef Path = Row.textAt(0);
        const auto Text = readLargeFile(Path);
        if (Text && digestOf((*Text)->getBuffer()) == Row.textAt(1))
          return Error::success();
        return C.failure("is of another sweep: `" + Path +
                         "` has changed; use another file with -o, or remove "
                         "it");
      });
}

Expected<Database> Database::open(StringRef Path, const Sweep &S) {
  Expected<WriteLock> Lock = WriteLock::take(Path);
  if (!Lock)
    return Lock.takeError();
  Expected<Connection> C = Connection::open(Path, Connection::Mode::Write);
  if (!C)
    return C.takeError();
  if (Error E =
          C->run(Twine("PRAGMA cache_size = -8192; PRAGMA synchronous = ") +
                 (S.IsDurable ? "FULL" : "NORMAL")))
    return E;
  Expected<int64_t> Tables = C->number("SELECT count(*) FROM sqlite_master");
  if (!Tables)
    return Tables.takeError();
  Expected<int64_t> Own = C->number("SELECT count(*) FROM sqlite_master "
                                    "WHERE name = 'sweep'");
  if (!Own)
    return Own.takeError();
  if (*Tables != 0 && *Own == 0)
    return C->failure("is a database, but no sweep's");
  Database D(std::move(*C));
  D.Lock.emplace(std::move(*Lock));
  if (Error E = *Tables == 0 ? D.create(S) : D.checkSame(S))
    return E;
  if (Error E = D.checkMetrics(S))
    return E;
  if (Error E = D.checkFiles())
    return E;
  const std::pair<SqlStatement *, std::string> Inserts[] = {
      {&D.AddPoint, insertPoint(S.Space.spec())},
      {&D.AddRejection, insertRejection("VALUES (?, ?, ?, ?)")},
      {&D.AddUnit, "INSERT INTO units VALUES (?, ?, ?, ?, ?, ?, ?)"},
      {&D.DropPoint, "DELETE FROM metrics WHERE id = ?"},
      {&D.AddFile,
       "INSERT INTO files VALUES (?, ?) ON CONFLICT DO UPDATE SET digest = "
       "excluded.digest WHERE digest = excluded.digest"}};
  for (const auto &[To, SQL] : Inserts) {
    Expected<SqlStatement> Made = D.C.prepare(SQL);
    if (!Made)
      return Made.takeError();
    *To = std::move(*Made);
  }
  return D;
}

Expected<Database> Database::openExisting(StringRef Path) {
  Expected<Connection> C = openToRead(Path);
  if (!C)
    return C.takeError();
  return Database(std::move(*C));
}

Expected<Database> Database::openToCollect(StringRef Path) {
  Expected<WriteLock> Lock = WriteLock::take(Path);
  if (!Lock)
    return Lock.takeError();
  if (Expected<Connection> IsThere = openToRead(Path); !IsThere)
    return IsThere.takeError();
  Expected<Connection> C = Connection::open(Path, Connection::Mode::Write);
  if (!C)
    return C.takeError();
  Database D(std::move(*C));
  D.Lock.emplace(std::move(*Lock));
  return D;
}

Error Database::writeResults(ArrayRef<ScriptResult> Results) {
  Expected<SqlStatement> Clear =
      C.prepare("DELETE FROM figures WHERE id = ? AND script = ?");
  if (!Clear)
    return Clear.takeError();
  Expected<SqlStatement> Add =
      C.prepare("INSERT OR REPLACE INTO figures VALUES (?, ?, ?, ?)");
  if (!Add)
    return Add.takeError();
  for (const ScriptResult &R : Results) {
    for (SqlStatement *S : {&*Clear, &*Add}) {
      S->bind(1, R.Id);
      S->bind(2, StringRef(R.Script));
    }
    if (!Clear->change())
      return C.failure("cannot be written");
    for (const auto &[Name, Value] : R.Figures) {
      Add->bind(3, StringRef(Name));
      Add->bind(4, Value);
      if (!Add->change())
        return C.failure("cannot be written");
    }
  }
  std::vector<ScriptFigure> Columns;
  if (Error E = C.forEachRow(
          "SELECT DISTINCT script, name FROM figures ORDER BY script, name != "
          "'ns', name",
          [&](const SqlStatement &Row) {
            Columns.push_back({Row.textAt(0).str(), Row.textAt(1).str()});
          }))
    return E;
  std::string SQL;
  raw_string_ostream OS(SQL);
  writeFigureViews(Columns, OS);
  return C.run(SQL);
}

Error Database::addResults(ArrayRef<ScriptResult> Results) {
  return inTransaction([&] { return writeResults(Results); });
}

Expected<std::vector<int64_t>> Database::done(const Sweep &S) {
  const Engine Units(S);
  std::vector<int64_t> Done;
  int64_t Points = 0;
  if (Error E = C.forEachRow(
          "SELECT unit FROM units ORDER BY unit",
          [&](const SqlStatement &Row) -> Error {
            const int64_t Unit = Done.emplace_back(Row.numberAt(0));
            if (Unit < 0 || Unit >= Units.units() || !S.Of.has(Unit))
              return C.failure("is damaged: it has a unit " + Twine(Unit));
            Points += Units.pointsOf(Unit);
            return Error::success();
          }))
    return E;
  Expected<int64_t> Found = countPoints(C);
  if (!Found)
    return Found.takeError();
  if (*Found != Points)
    return C.failure("is damaged: of " + Twine(Points) + " points it has " +
                     Twine(*Found));
  return Done;
}

Error Database::writeRows(int64_t Unit, const Tally &T,
                          ArrayRef<int64_t> Dropped) {
  for (const int64_t Id : Dropped) {
    DropPoint.bind(1, Id);
    if (!DropPoint.change())
      return C.failure("cannot be written");
  }
  const DenseSet<int64_t> Gone(Dropped.begin(), Dropped.end());
  // Writes points in the order of the file.
  std::vector<std::pair<int64_t, size_t>> Order;
  for (const auto &[Row, Id] : enumerate(T.Accepted))
    if (!Gone.contains(Id))
      Order.emplace_back(Id, Row);
  llvm::sort(Order);
  for (const auto &[Id, Row] : Order) {
    AddPoint.bind(1, Id);
    for (size_t M = 0; M < T.Metrics.size(); ++M)
      if (const int64_t Value = T.Metrics[M][Row]; Value != ir::NoValue)
        AddPoint.bind(static_cast<int>(M) + 2, Value);
      else
        AddPoint.bindNull(static_cast<int>(M) + 2);
    if (!AddPoint.change())
      return C.failure("cannot be written");
  }
  for (const auto &[Why, Of] : T.Rejected) {
    AddRejection.bind(1, getDiagnosticInfo(Why.Reported).Slug);
    AddRejection.bind(2, StringRef(Why.Key));
    AddRejection.bind(3, Of.Count);
    AddRejection.bind(4, Of.Example);
    if (!AddRejection.change())
      return C.failure("cannot be written");
  }
  for (const auto &[Path, Digest] : T.Files) {
    AddFile.bind(1, StringRef(Path));
    AddFile.bind(2, StringRef(Digest));
    if (!AddFile.change())
      return C.failure("cannot be written");
  }
  AddUnit.bind(1, Unit);
  AddUnit.bind(2, T.NumAccepted);
  AddUnit.bind(3, T.NumUnfit);
  for (int Column = 4; Column <= 7; ++Column)
    AddUnit.bindNull(Column);
  for (const Chooser::Point &Best : T.Best) { // one at most
    AddUnit.bind(4, Best.Id);
    AddUnit.bind(5, Best.Values.front());
    if (Best.Values.size() > 1)
      AddUnit.bind(6, Best.Values.back());
    AddUnit.bind(7, Best.Equal);
  }
  return AddUnit.change() ? Error::success() : C.failure("cannot be written");
}

Error Database::inTransaction(function_ref<Error()> Change) {
  if (Error E = C.run("BEGIN IMMEDIATE"))
    return E;
  if (Error E = Change()) {
    consumeError(C.run("ROLLBACK"));
    return E;
  }
  return C.run("COMMIT");
}

Error Database::write(int64_t Unit, const Tally &T, ArrayRef<int64_t> Dropped) {
  return inTransaction([&] { return writeRows(Unit, T, Dropped); });
}

void Database::seal() {
  // Beside a reader it stays as it is, until it is found to be done again.
  consumeError(C.run("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE"));
}

Expected<int64_t> Database::accepted() {
  return C.number("SELECT ifnull(sum(accepted), 0) FROM units");
}

Expected<int64_t> Database::unfit() {
  return C.number("SELECT ifnull(sum(unfit), 0) FROM units");
}

Expected<std::vector<int64_t>> chooseRows(Connection &C, Chooser &To) {
  if (To.keepsAll())
    return std::vector<int64_t>();
  std::string SQL = "SELECT id";
  for (const Goal &G : To.choice().By)
    SQL += ", metrics." + quotedName(G.Metric);
  std::vector<Chooser::Point> Points;
  if (Error E = C.forEachRow(
          SQL + ", ifnull(fits, 1) FROM metrics", [&](const SqlStatement &Row) {
            int Column = 0;
            Points.push_back(To.pointOf(Row.numberAt(0), [&](size_t) {
              return Row.numberAt(++Column);
            }));
          }))
    return E;
  return To.add(std::move(Points));
}

Expected<std::vector<Chooser::Point>> Database::best() {
  std::vector<Chooser::Point> Points;
  if (Error E = C.forEachRow(
          "SELECT best, equal, best_value, best_time FROM units WHERE best IS "
          "NOT NULL",
          [&](const SqlStatement &Row) {
            Points.push_back(
                {Row.numberAt(0), {Row.numberAt(2)}, Row.numberAt(1)});
            if (!Row.isNull(3))
              Points.back().Values.push_back(Row.numberAt(3));
          }))
    return E;
  return Points;
}

Expected<std::vector<int64_t>> Database::choose(Chooser &To) {
  return chooseRows(C, To);
}

Expected<std::vector<int64_t>> Database::kept() {
  std::vector<int64_t> Points;
  if (Error E = C.forEachRow(
          "SELECT id FROM metrics ORDER BY id",
          [&](const SqlStatement &Row) { Points.push_back(Row.numberAt(0)); }))
    return E;
  return Points;
}

Expected<std::map<RejectionCause, Rejection>> Database::rejections() {
  std::map<RejectionCause, Rejection> Out;
  if (Error E = C.forEachRow(
          "SELECT slug, key, count, example FROM rejections",
          [&](const SqlStatement &Row) -> Error {
            const std::optional<diag::Id> Id = findDiagnostic(Row.textAt(0));
            if (!Id)
              return C.failure("names the diagnostic `" + Row.textAt(0) +
                               "`, which there is not");
            Out[{*Id, Row.textAt(1).str()}] = {Row.numberAt(2),
                                               Row.numberAt(3)};
            return Error::success();
          }))
    return E;
  return Out;
}

} // namespace foretrace::sweep
