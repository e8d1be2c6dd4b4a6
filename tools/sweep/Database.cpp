// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Database.h"
#include "passes/analyses/Metrics.h"
#include "tools/sweep/Schema.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <sqlite3.h>

using namespace llvm;

namespace foretrace::sweep {

void Database::Close::operator()(sqlite3 *DB) const { sqlite3_close(DB); }
void Database::Close::operator()(sqlite3_stmt *Statement) const {
  sqlite3_finalize(Statement);
}

Error Database::failure(const Twine &What) {
  return createStringError("`" + Path + "`: " + What +
                           (DB && sqlite3_errcode(DB.get()) != SQLITE_OK
                                ? Twine(": ") + sqlite3_errmsg(DB.get())
                                : Twine("")));
}

Error Database::connect(int Flags) {
  constexpr int WaitMs = 10000; // for others that write
  sqlite3 *Opened = nullptr;
  const int Code = sqlite3_open_v2(Path.c_str(), &Opened, Flags, nullptr);
  DB.reset(Opened);
  if (Code != SQLITE_OK)
    return failure("cannot be opened");
  sqlite3_busy_timeout(DB.get(), WaitMs);
  return Error::success();
}

Error Database::run(const Twine &SQL) {
  return sqlite3_exec(DB.get(), SQL.str().c_str(), nullptr, nullptr, nullptr) ==
                 SQLITE_OK
             ? Error::success()
             : failure("cannot be written");
}

Expected<Database::Statement> Database::prepare(const Twine &SQL) {
  sqlite3_stmt *Made = nullptr;
  if (sqlite3_prepare_v2(DB.get(), SQL.str().c_str(), -1, &Made, nullptr) !=
      SQLITE_OK)
    return failure("no such query");
  return Statement(Made);
}

Expected<bool> Database::step(const Statement &S) {
  const int Code = sqlite3_step(S.get());
  if (Code != SQLITE_ROW && Code != SQLITE_DONE)
    return failure("cannot be read or written");
  return Code == SQLITE_ROW;
}

Error Database::create(const Sweep &S, StringRef Sources) {
  std::string SQL = "BEGIN IMMEDIATE;";
  raw_string_ostream OS(SQL);
  writeSchema(S, Sources, OS);
  OS << "COMMIT;";
  return run(SQL);
}

/// What a column of text is; empty if it is null.
static StringRef textAt(sqlite3_stmt *S, int Column) {
  const unsigned char *Text = sqlite3_column_text(S, Column);
  return Text ? StringRef(reinterpret_cast<const char *>(Text)) : StringRef();
}

Error Database::checkSame(const Sweep &S, StringRef Sources) {
  Expected<Statement> Facts = prepare("SELECT name, value FROM sweep");
  if (!Facts)
    return Facts.takeError();
  const std::vector<Fact> Expected = factsOf(S, Sources);
  while (true) {
    llvm::Expected<bool> HasRow = step(*Facts);
    if (!HasRow)
      return HasRow.takeError();
    if (!*HasRow)
      return Error::success();
    const StringRef Name = textAt(Facts->get(), 0),
                    Value = textAt(Facts->get(), 1);
    for (const Fact &F : Expected)
      if (F.Name == Name && F.Value != Value)
        return failure("is of another sweep: its " + Name + " is `" + Value +
                       "`, not `" + F.Value +
                       "`; say another file with -o, or remove it");
  }
}

Expected<Database> Database::open(StringRef Path, const Sweep &S,
                                  StringRef Sources) {
  Database D(Path);
  if (Error E = D.connect(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE))
    return E;
  // Others read while this one writes; what is committed survives a kill.
  if (Error E = D.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL"))
    return E;
  Expected<Statement> Tables = D.prepare(
      "SELECT count(*), coalesce(sum(name = 'sweep'), 0) FROM sqlite_master");
  if (!Tables)
    return Tables.takeError();
  if (Expected<bool> Row = D.step(*Tables); !Row)
    return Row.takeError();
  const int All = sqlite3_column_int(Tables->get(), 0),
            Own = sqlite3_column_int(Tables->get(), 1);
  Tables->reset();
  if (All != 0 && Own == 0)
    return D.failure("is a database, but no sweep's");
  if (Error E = All == 0 ? D.create(S, Sources) : D.checkSame(S, Sources))
    return E;
  const std::pair<Statement *, std::string> Inserts[] = {
      {&D.AddPoint, insertPoint()},
      {&D.AddRejection,
       "INSERT INTO rejections VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
       "count = count + excluded.count, example = min(example, "
       "excluded.example)"},
      {&D.AddUnit, "INSERT INTO units VALUES (?)"}};
  for (const auto &[To, SQL] : Inserts) {
    Expected<Statement> Made = D.prepare(SQL);
    if (!Made)
      return Made.takeError();
    *To = std::move(*Made);
  }
  return D;
}

Expected<Database> Database::openExisting(StringRef Path) {
  Database D(Path);
  if (!sys::fs::exists(Path))
    return D.failure("there is no such file");
  if (Error E = D.connect(SQLITE_OPEN_READONLY))
    return E;
  Expected<Statement> Facts = D.prepare("SELECT value FROM sweep");
  if (!Facts) {
    consumeError(Facts.takeError());
    return createStringError("`" + Path + "`: is no database of a sweep");
  }
  return D;
}

Expected<std::vector<int64_t>> Database::done() {
  Expected<Statement> Rows = prepare("SELECT unit FROM units ORDER BY unit");
  if (!Rows)
    return Rows.takeError();
  std::vector<int64_t> Done;
  while (true) {
    Expected<bool> HasRow = step(*Rows);
    if (!HasRow)
      return HasRow.takeError();
    if (!*HasRow)
      return Done;
    Done.push_back(sqlite3_column_int64(Rows->get(), 0));
  }
}

/// Runs a statement that gives no rows, for other values the next time.
static bool runOnce(sqlite3_stmt *S) {
  const bool IsDone = sqlite3_step(S) == SQLITE_DONE;
  return sqlite3_reset(S) == SQLITE_OK && IsDone;
}

Error Database::writeRows(int64_t Unit, const Tally &T) {
  sqlite3_stmt *const Point = AddPoint.get();
  for (const auto &[Row, Id] : enumerate(T.Accepted)) {
    sqlite3_bind_int64(Point, 1, Id);
    for (size_t M = 0; M < T.Metrics.size(); ++M)
      sqlite3_bind_int64(Point, static_cast<int>(M) + 2, T.Metrics[M][Row]);
    if (!runOnce(Point))
      return failure("cannot be written");
  }
  sqlite3_stmt *const Rejected = AddRejection.get();
  for (const auto &[Why, Of] : T.Rejected) {
    const StringRef Slug = getDiagnosticInfo(Why.Reported).Slug;
    sqlite3_bind_text(Rejected, 1, Slug.data(), static_cast<int>(Slug.size()),
                      SQLITE_STATIC);
    sqlite3_bind_text(Rejected, 2, Why.Key.data(),
                      static_cast<int>(Why.Key.size()), SQLITE_STATIC);
    sqlite3_bind_int64(Rejected, 3, Of.Count);
    sqlite3_bind_int64(Rejected, 4, Of.Example);
    if (!runOnce(Rejected))
      return failure("cannot be written");
  }
  sqlite3_bind_int64(AddUnit.get(), 1, Unit);
  return runOnce(AddUnit.get()) ? Error::success()
                                : failure("cannot be written");
}

Error Database::write(int64_t Unit, const Tally &T) {
  if (Error E = run("BEGIN IMMEDIATE"))
    return E;
  if (Error E = writeRows(Unit, T)) {
    consumeError(run("ROLLBACK"));
    return E;
  }
  return run("COMMIT");
}

Expected<int64_t> Database::accepted() {
  Expected<Statement> Count = prepare("SELECT count(*) FROM points");
  if (!Count)
    return Count.takeError();
  if (Expected<bool> Row = step(*Count); !Row)
    return Row.takeError();
  return sqlite3_column_int64(Count->get(), 0);
}

Expected<std::map<Reason, Rejection>> Database::rejections() {
  Expected<Statement> Rows =
      prepare("SELECT slug, key, count, example FROM rejections");
  if (!Rows)
    return Rows.takeError();
  std::map<Reason, Rejection> Out;
  while (true) {
    Expected<bool> HasRow = step(*Rows);
    if (!HasRow)
      return HasRow.takeError();
    if (!*HasRow)
      return Out;
    const std::optional<diag::Id> Id = findDiagnostic(textAt(Rows->get(), 0));
    if (!Id)
      return failure("names the diagnostic `" + textAt(Rows->get(), 0) +
                     "`, which there is not");
    Out[{*Id, textAt(Rows->get(), 1).str()}] = {
        sqlite3_column_int64(Rows->get(), 2),
        sqlite3_column_int64(Rows->get(), 3)};
  }
}

/// A value as JSON has it.
static json::Value jsonAt(sqlite3_stmt *S, int Column) {
  switch (sqlite3_column_type(S, Column)) {
  case SQLITE_INTEGER:
    return sqlite3_column_int64(S, Column);
  case SQLITE_FLOAT:
    return sqlite3_column_double(S, Column);
  case SQLITE_NULL:
    return nullptr;
  default:
    return json::fixUTF8(textAt(S, Column));
  }
}

/// RFC 4180.
static void printCSV(StringRef Text, raw_ostream &OS) {
  if (Text.find_first_of(",\"\r\n") == StringRef::npos) {
    OS << Text;
    return;
  }
  OS << '"';
  for (const char C : Text)
    OS << (C == '"' ? "\"\"" : StringRef(&C, 1));
  OS << '"';
}

Error Database::query(StringRef SQL, RowFormat Format, raw_ostream &OS) {
  Expected<Statement> Rows = prepare(SQL);
  if (!Rows)
    return Rows.takeError();
  sqlite3_stmt *const S = Rows->get();
  if (!S || !sqlite3_stmt_readonly(S))
    return createStringError("--query: says nothing to read");
  const int Columns = sqlite3_column_count(S);
  const char Separator = Format == RowFormat::CSV ? ',' : '\t';
  auto PrintLine = [&](auto TextOf) {
    for (int C = 0; C < Columns; ++C) {
      if (C != 0)
        OS << Separator;
      if (Format == RowFormat::CSV)
        printCSV(TextOf(C), OS);
      else
        OS << TextOf(C);
    }
    OS << '\n';
  };
  if (Format != RowFormat::JSON)
    PrintLine([&](int C) { return StringRef(sqlite3_column_name(S, C)); });
  while (true) {
    Expected<bool> HasRow = step(*Rows);
    if (!HasRow)
      return HasRow.takeError();
    if (!*HasRow)
      return Error::success();
    if (Format != RowFormat::JSON) {
      PrintLine([&](int C) { return textAt(S, C); });
      continue;
    }
    json::OStream J(OS);
    J.object([&] {
      for (int C = 0; C < Columns; ++C)
        J.attribute(sqlite3_column_name(S, C), jsonAt(S, C));
    });
    OS << '\n';
  }
}

} // namespace foretrace::sweep
