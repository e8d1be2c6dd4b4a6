// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/SimaiReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::validate {

/// Characters that C++ streams skip as blanks.
static constexpr StringRef TableBlanks = " \t\r\v\f";

/// Lines above the rows.
static constexpr int64_t HeadLines = 2;

/// Further fields of a line are not split.
static constexpr size_t MostFields = 1 << 16;

TableNumber readNumber(StringRef Field) {
  using Form = TableNumber::Form;
  const bool IsNegative = Field.consume_front("-");
  if (Field.empty() || !all_of(Field, isDigit))
    return {Form::Malformed, 0};
  TableNumber N;
  if (Field.getAsInteger(10, N.Value))
    return {Form::Overflow, 0};
  N.Is = IsNegative && N.Value > 0 ? Form::Negative : Form::Integer;
  return N;
}

const TableLine *SimaiReader::next() {
  while (!Rest.empty()) {
    auto [Text, After] = Rest.split('\n');
    Rest = After;
    Line.Number = ++Number;
    Line.Fields.clear();
    for (Text = Text.ltrim(TableBlanks);
         !Text.empty() && Line.Fields.size() < MostFields;
         Text = Text.ltrim(TableBlanks)) {
      const size_t End = Text.find_first_of(TableBlanks);
      Line.Fields.push_back(Text.take_front(End));
      Text = Text.drop_front(Line.Fields.back().size());
    }
    if (!Line.Fields.empty() || Number <= HeadLines)
      return &Line;
  }
  return nullptr;
}

} // namespace foretrace::validate
