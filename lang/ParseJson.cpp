// SPDX-License-Identifier: Apache-2.0
#include "lang/ParseJson.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace {

/// Takes the digits off \p Text; whether there are any.
static bool takeDigits(StringRef &Text) {
  const StringRef Digits = Text.take_while(isDigit);
  Text = Text.drop_front(Digits.size());
  return !Digits.empty();
}

static bool isNumber(StringRef Text) {
  Text.consume_front("-");
  if (!Text.consume_front("0") && !takeDigits(Text))
    return false;
  if (Text.consume_front(".") && !takeDigits(Text))
    return false;
  if (Text.consume_front_insensitive("e")) {
    if (!Text.consume_front("-"))
      Text.consume_front("+");
    if (!takeDigits(Text))
      return false;
  }
  return Text.empty();
}

Expected<json::Value> parseJson(StringRef Text, int MostNested) {
  int Nested = 0;
  bool IsInString = false;
  for (size_t I = 0; I < Text.size(); ++I) {
    const char C = Text[I];
    if (C == '"')
      IsInString = !IsInString;
    else if (IsInString)
      I += C == '\\';
    else if (C == '[' || C == '{')
      ++Nested;
    else if (C == ']' || C == '}')
      --Nested;
    if (Nested > MostNested)
      return createStringError("brackets nest too deep");
    if (IsInString || (!isDigit(C) && C != '+' && C != '-' && C != '.'))
      continue;
    const StringRef Number = Text.drop_front(I).take_while([](char Other) {
      return isAlnum(Other) || Other == '+' || Other == '-' || Other == '.';
    });
    if (!isNumber(Number))
      return createStringError("`" + Number + "` is not a number");
    I += Number.size() - 1;
  }
  return json::parse(Text);
}

} // namespace foretrace
