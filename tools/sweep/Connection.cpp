// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Connection.h"
#include "llvm/ADT/Twine.h"
#include <sqlite3.h>
#include <system_error>

using namespace llvm;

namespace foretrace::sweep {

void SqlStatement::Finalize::operator()(sqlite3_stmt *S) const {
  sqlite3_finalize(S);
}

void SqlStatement::bind(int Parameter, int64_t Value) {
  sqlite3_bind_int64(S.get(), Parameter, Value);
}

void SqlStatement::bind(int Parameter, StringRef Text) {
  sqlite3_bind_text(S.get(), Parameter, Text.data(),
                    static_cast<int>(Text.size()), SQLITE_STATIC);
}

void SqlStatement::bind(int Parameter, double Value) {
  sqlite3_bind_double(S.get(), Parameter, Value);
}

void SqlStatement::bindNull(int Parameter) {
  sqlite3_bind_null(S.get(), Parameter);
}

bool SqlStatement::change() {
  const bool IsDone = sqlite3_step(S.get()) == SQLITE_DONE;
  return sqlite3_reset(S.get()) == SQLITE_OK && IsDone;
}

void SqlStatement::reset() { sqlite3_reset(S.get()); }

bool SqlStatement::isQuery() const {
  return S && sqlite3_stmt_readonly(S.get()) != 0;
}

int SqlStatement::columns() const { return sqlite3_column_count(S.get()); }

StringRef SqlStatement::name(int Column) const {
  return sqlite3_column_name(S.get(), Column);
}

int64_t SqlStatement::numberAt(int Column) const {
  return sqlite3_column_int64(S.get(), Column);
}

std::optional<double> SqlStatement::realAt(int Column) const {
  if (sqlite3_column_type(S.get(), Column) != SQLITE_FLOAT)
    return std::nullopt;
  return sqlite3_column_double(S.get(), Column);
}

bool SqlStatement::isNull(int Column) const {
  return sqlite3_column_type(S.get(), Column) == SQLITE_NULL;
}

bool SqlStatement::isInteger(int Column) const {
  return sqlite3_column_type(S.get(), Column) == SQLITE_INTEGER;
}

StringRef SqlStatement::textAt(int Column) const {
  const unsigned char *Text = sqlite3_column_text(S.get(), Column);
  return Text ? StringRef(reinterpret_cast<const char *>(Text)) : StringRef();
}

void Connection::Close::operator()(sqlite3 *DB) const { sqlite3_close(DB); }

Error Connection::failure(const Twine &What) const {
  std::string Text = ("`" + Path + "`: " + What).str();
  const int Code = DB ? sqlite3_errcode(DB.get()) : SQLITE_OK;
  if (Code != SQLITE_OK && Code != SQLITE_ROW && Code != SQLITE_DONE)
    Text += std::string(": ") + sqlite3_errmsg(DB.get());
  const int System = DB ? sqlite3_system_errno(DB.get()) : 0;
  if (System != 0 && (Code == SQLITE_IOERR || Code == SQLITE_CANTOPEN))
    Text += ": " + std::generic_category().message(System);
  return createStringError(Text);
}

Expected<Connection> Connection::open(StringRef Path, Mode M) {
  constexpr int WaitMs = 10000; // for others that write
  Connection C(Path);
  sqlite3 *Opened = nullptr;
  const int Code = sqlite3_open_v2(C.Path.c_str(), &Opened,
                                   M == Mode::Read ? SQLITE_OPEN_READONLY
                                                   : SQLITE_OPEN_READWRITE |
                                                         SQLITE_OPEN_CREATE,
                                   nullptr);
  C.DB.reset(Opened);
  if (Code != SQLITE_OK)
    return C.failure("cannot be opened");
  sqlite3_busy_timeout(Opened, WaitMs);
  return C;
}

Error Connection::run(const Twine &SQL) {
  return sqlite3_exec(DB.get(), SQL.str().c_str(), nullptr, nullptr, nullptr) ==
                 SQLITE_OK
             ? Error::success()
             : failure("cannot be written");
}

Expected<SqlStatement> Connection::prepare(const Twine &SQL) {
  sqlite3_stmt *Made = nullptr;
  if (sqlite3_prepare_v2(DB.get(), SQL.str().c_str(), -1, &Made, nullptr) !=
      SQLITE_OK)
    return failure(sqlite3_errcode(DB.get()) == SQLITE_ERROR
                       ? "no such query"
                       : "cannot be read");
  return SqlStatement(Made);
}

Expected<bool> Connection::next(SqlStatement &S) {
  const int Code = sqlite3_step(S.S.get());
  if (Code != SQLITE_ROW && Code != SQLITE_DONE)
    return failure("cannot be read");
  return Code == SQLITE_ROW;
}

Error Connection::visitRows(const Twine &SQL,
                            function_ref<Error(const SqlStatement &)> Take) {
  Expected<SqlStatement> Rows = prepare(SQL);
  if (!Rows)
    return Rows.takeError();
  Expected<bool> HasRow = next(*Rows);
  for (; HasRow && *HasRow; HasRow = next(*Rows))
    if (Error E = Take(*Rows))
      return E;
  return HasRow.takeError();
}

Expected<int64_t> Connection::number(const Twine &SQL) {
  Expected<SqlStatement> S = prepare(SQL);
  if (!S)
    return S.takeError();
  if (Expected<bool> HasRow = next(*S); !HasRow)
    return HasRow.takeError();
  return S->numberAt(0);
}

} // namespace foretrace::sweep
