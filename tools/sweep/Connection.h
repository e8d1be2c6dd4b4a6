// SPDX-License-Identifier: Apache-2.0
//
// A file of SQLite, with its failures as errors that name it. The only door to
// the library. Private to the sweep.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>

struct sqlite3;
struct sqlite3_stmt;

namespace foretrace::sweep {

/// A prepared query or change.
class SqlStatement {
public:
  SqlStatement() = default;
  explicit SqlStatement(sqlite3_stmt *S) : S(S) {}

  // Parameters are counted from 1. Texts are not copied.
  void bind(int Parameter, int64_t Value);
  void bind(int Parameter, llvm::StringRef Text);
  void bind(int Parameter, double Value);
  void bindNull(int Parameter);
  /// Runs a change, which can be run again afterwards; whether it was made.
  bool change();
  /// Forgets the row that was found; then parameters can be bound anew.
  void reset();

  /// Returns whether it changes nothing.
  bool isQuery() const;
  int columns() const;
  llvm::StringRef name(int Column) const;
  // Cells of the row that `Connection::next` found.
  int64_t numberAt(int Column) const;
  std::optional<double> realAt(int Column) const; ///< if not an integer
  bool isNull(int Column) const;
  bool isInteger(int Column) const;
  llvm::StringRef textAt(int Column) const; ///< empty if it is null

private:
  friend class Connection;
  struct Finalize {
    void operator()(sqlite3_stmt *S) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> S;
};

class Connection {
public:
  enum class Mode : unsigned char { Read, Write };

  /// In Mode::Write the file is made if there is none.
  static llvm::Expected<Connection> open(llvm::StringRef Path, Mode M);

  llvm::Error run(const llvm::Twine &SQL);
  llvm::Expected<SqlStatement> prepare(const llvm::Twine &SQL);
  /// Goes on to the next row of a query; false after the last one.
  llvm::Expected<bool> next(SqlStatement &S);
  /// Calls \p Take with each row that \p SQL finds, until it returns an error
  /// if it returns any.
  template <typename FnT>
  llvm::Error forEachRow(const llvm::Twine &SQL, FnT Take) {
    return visitRows(SQL, [&](const SqlStatement &Row) {
      if constexpr (std::is_void_v<decltype(Take(Row))>) {
        Take(Row);
        return llvm::Error::success();
      } else {
        return Take(Row);
      }
    });
  }
  /// The only number that \p SQL finds.
  llvm::Expected<int64_t> number(const llvm::Twine &SQL);
  /// Returns \p What and SQLite's message as an error.
  llvm::Error failure(const llvm::Twine &What) const;

private:
  explicit Connection(llvm::StringRef Path) : Path(Path) {}
  llvm::Error
  visitRows(const llvm::Twine &SQL,
            llvm::function_ref<llvm::Error(const SqlStatement &)> Take);

  struct Close {
    void operator()(sqlite3 *DB) const;
  };
  std::string Path;
  std::unique_ptr<sqlite3, Close> DB;
};

} // namespace foretrace::sweep
