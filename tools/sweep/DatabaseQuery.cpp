// SPDX-License-Identifier: Apache-2.0
//
// Rows of a database, printed.
#include "tools/sweep/Database.h"
#include "tools/sweep/Schema.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace foretrace::sweep {

/// A value as JSON has it.
static json::Value jsonAt(const SqlStatement &S, int Column) {
  if (S.isNull(Column))
    return nullptr;
  if (S.isInteger(Column))
    return S.numberAt(Column);
  if (const std::optional<double> Real = S.realAt(Column))
    return *Real;
  return json::fixUTF8(S.textAt(Column));
}

/// Numbers as numbers, and nothing as nothing.
static void printObject(const SqlStatement &Row, raw_ostream &OS) {
  json::OStream J(OS);
  J.object([&] {
    for (int Column = 0; Column < Row.columns(); ++Column)
      J.attribute(Row.name(Column), jsonAt(Row, Column));
  });
  OS << '\n';
}

Error Database::printBest(StringRef Column, bool IsMost, bool TakesUnfit,
                          RowFormat Format, raw_ostream &OS) {
  Expected<StringRef> View =
      viewWith(C, IsMost ? "--maximize" : "--minimize", Column);
  if (!View)
    return View.takeError();
  const std::string By = quotedName(Column);
  return query("SELECT * FROM " + View->str() + " WHERE " + By +
                   " IS NOT NULL" + (TakesUnfit ? "" : " AND fits IS NOT 0") +
                   " ORDER BY " + By + (IsMost ? " DESC" : "") + ", id LIMIT 1",
               Format, OS);
}

Error Database::query(StringRef SQL, RowFormat Format, raw_ostream &OS) {
  Expected<SqlStatement> Rows = C.prepare(SQL);
  if (!Rows)
    return Rows.takeError();
  if (!Rows->isQuery())
    return createStringError("--query: the query reads nothing");
  std::vector<RowColumn> Columns(static_cast<size_t>(Rows->columns()));
  for (auto [I, Column] : enumerate(Columns))
    Column = {Rows->name(static_cast<int>(I)).str(), false, 0, "\t"};
  std::vector<std::string> Row(Columns.size());
  RowWriter Writer(std::move(Columns), Format, OS);
  Expected<bool> HasRow = C.next(*Rows);
  for (; HasRow && *HasRow; HasRow = C.next(*Rows)) {
    if (Format == RowFormat::JSON) {
      printObject(*Rows, OS);
      continue;
    }
    for (auto [I, Cell] : enumerate(Row))
      Cell = Rows->textAt(static_cast<int>(I)).str();
    Writer.write(Row);
  }
  return HasRow.takeError();
}

} // namespace foretrace::sweep
