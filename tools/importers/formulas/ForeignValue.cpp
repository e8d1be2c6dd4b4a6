// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/formulas/ForeignValue.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;

namespace foretrace::importers {

static ForeignValue make(ForeignValue::Kind Is, SourceRange Range) {
  ForeignValue V;
  V.Is = Is;
  V.Range = Range;
  return V;
}

ForeignValue ForeignValue::null(SourceRange Range) {
  return make(Kind::Null, Range);
}

ForeignValue ForeignValue::of(bool Truth, SourceRange Range) {
  ForeignValue V = make(Kind::Boolean, Range);
  V.Truth = Truth;
  return V;
}

ForeignValue ForeignValue::of(int64_t Integer, SourceRange Range) {
  ForeignValue V = make(Kind::Integer, Range);
  V.Integer = Integer;
  return V;
}

ForeignValue ForeignValue::of(double Real, SourceRange Range) {
  constexpr double Exact = int64_t(1) << 53;
  if (std::fabs(Real) <= Exact && std::trunc(Real) == Real)
    return of(static_cast<int64_t>(Real), Range);
  ForeignValue V = make(Kind::Real, Range);
  V.Real = Real;
  return V;
}

ForeignValue ForeignValue::of(std::string Text, SourceRange Range) {
  ForeignValue V = make(Kind::Text, Range);
  V.Text = std::move(Text);
  return V;
}

ForeignValue ForeignValue::of(std::vector<ForeignValue> Elements,
                              SourceRange Range) {
  ForeignValue V = make(Kind::List, Range);
  V.Elements =
      std::make_shared<const std::vector<ForeignValue>>(std::move(Elements));
  return V;
}

ForeignValue ForeignValue::of(std::vector<Member> Members, SourceRange Range) {
  ForeignValue V = make(Kind::Map, Range);
  V.Members = std::make_shared<const std::vector<Member>>(std::move(Members));
  return V;
}

bool ForeignValue::isOff() const {
  switch (Is) {
  case Kind::Missing:
  case Kind::Null:
    return true;
  case Kind::Boolean:
    return !Truth;
  case Kind::Integer:
    return Integer == 0;
  case Kind::Real:
    return Real == 0;
  case Kind::Text:
    return Text.empty() || StringRef(Text).equals_insensitive("none");
  case Kind::List:
    return Elements->empty();
  case Kind::Map:
    return Members->empty();
  }
  llvm_unreachable("unknown kind of value");
}

const ForeignValue *ForeignValue::find(StringRef Key) const {
  if (Is != Kind::Map)
    return nullptr;
  const auto *Found = llvm::find_if(
      ArrayRef(*Members), [&](const Member &M) { return M.Key.Text == Key; });
  return Found == Members->data() + Members->size() ? nullptr : &Found->Is;
}

StringRef ForeignValue::kindName() const {
  static constexpr StringLiteral Names[] = {
      "missing",  "null",   "a truth value", "an integer",
      "a number", "a text", "a list",        "an object"};
  return Names[static_cast<size_t>(Is)];
}

static bool isWord(StringRef Text) {
  return !Text.empty() && !isDigit(Text.front()) &&
         all_of(Text, [](char C) { return isAlnum(C) || C == '_'; });
}

std::string ForeignValue::print() const {
  switch (Is) {
  case Kind::Missing:
  case Kind::Null:
    return "none";
  case Kind::Boolean:
    return Truth ? "true" : "false";
  case Kind::Integer:
    return std::to_string(Integer);
  case Kind::Real:
    return formatv("{0}", Real).str();
  case Kind::Text:
    return IsFormula || isWord(Text) ? Text : "\"" + Text + "\"";
  case Kind::List:
    return "[" +
           join(map_range(*Elements,
                          [](const ForeignValue &V) { return V.print(); }),
                ", ") +
           "]";
  case Kind::Map:
    return "{" +
           join(map_range(*Members,
                          [](const Member &M) {
                            return M.Key.Text + ": " + M.Is.print();
                          }),
                ", ") +
           "}";
  }
  llvm_unreachable("unknown kind of value");
}

bool areEqual(const ForeignValue &L, const ForeignValue &R) {
  if (L.isNumber() && R.isNumber())
    return L.number() == R.number();
  if (L.Is != R.Is)
    return false;
  return L.Is == ForeignValue::Kind::Boolean ? L.Truth == R.Truth
         : L.Is == ForeignValue::Kind::Text  ? L.Text == R.Text
                                             : L.Is == ForeignValue::Kind::Null;
}

ForeignValue readScalar(StringRef Written, SourceRange Range) {
  if (Written == "null" || Written == "~" || Written.empty())
    return ForeignValue::null(Range);
  if (Written == "true" || Written == "True")
    return ForeignValue::of(true, Range);
  if (Written == "false" || Written == "False")
    return ForeignValue::of(false, Range);
  int64_t Integer;
  if (!Written.getAsInteger(10, Integer))
    return ForeignValue::of(Integer, Range);
  double Real;
  const bool IsNumeric = isDigit(Written.back()) || Written.back() == '.' ||
                         StringSwitch<bool>(Written.ltrim('-'))
                             .Cases("Infinity", "NaN", ".inf", ".nan", true)
                             .Default(false);
  if (IsNumeric && !Written.ltrim("-.").getAsDouble(Real) &&
      !Written.getAsDouble(Real))
    return ForeignValue::of(Real, Range);
  ForeignValue Text = ForeignValue::of(Written.str(), Range);
  Text.IsBare = true;
  return Text;
}

} // namespace foretrace::importers
