// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/readers/PythonReader.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;

namespace foretrace::importers {

void PythonReader::skipTo(function_ref<bool(const PythonToken &)> IsEnd) {
  int Open = 0;
  for (; here().Is != PythonKind::End; ++Next) {
    if (Open == 0 && IsEnd(here()))
      return;
    if (here().Is == PythonKind::Sign) {
      Open += is("(") || is("[") || is("{");
      Open -= is(")") || is("]") || is("}");
    }
  }
}

ForeignValue PythonReader::written(size_t Begin) {
  const size_t From = Tokens[Begin].Begin;
  const size_t To = Next > Begin ? Tokens[Next - 1].End : From;
  ForeignValue V = ForeignValue::of(Source.str().slice(From, To).str(),
                                    Source.range(From, To));
  V.IsBare = true;
  return V;
}

bool PythonReader::spend(const ForeignValue &V) {
  const size_t Effort = V.Members ? V.Members->size() : 0;
  const bool IsEnough = Effort <= Left;
  Left = IsEnough ? Left - Effort : 0;
  return IsEnough;
}

/// An expression up to a comma, a closing bracket or the end of the line. If
/// more follows than is understood, all of it is a text.
ForeignValue PythonReader::whole(Variables &Known) {
  const size_t Begin = Next;
  const auto IsEnd = [](const PythonToken &T) {
    return T.Is == PythonKind::NewLine ||
           (T.Is == PythonKind::Sign && StringRef(",)]}").contains(T.Spelling));
  };
  ForeignValue V = ++Depth < MaxPythonDepth ? sum(Known) : ForeignValue();
  --Depth;
  if (IsEnd(here()) && !V.isMissing())
    return V;
  skipTo(IsEnd);
  return written(Begin);
}

static ForeignValue combine(StringRef Sign, const ForeignValue &L,
                            const ForeignValue &R) {
  if (!L.isNumber() || !R.isNumber())
    return {};
  const double A = L.number(), B = R.number();
  if ((Sign == "/" || Sign == "//") && B == 0)
    return {};
  return ForeignValue::of(Sign == "+"    ? A + B
                          : Sign == "-"  ? A - B
                          : Sign == "*"  ? A * B
                          : Sign == "//" ? std::floor(A / B)
                                         : A / B,
                          L.Range.to(R.Range));
}

ForeignValue PythonReader::sum(Variables &Known) {
  ForeignValue V = product(Known);
  while (is("+") || is("-")) {
    const StringRef Sign = Tokens[Next++].Spelling;
    V = combine(Sign, V, product(Known));
  }
  return V;
}

ForeignValue PythonReader::product(Variables &Known) {
  ForeignValue V = unary(Known);
  while (is("*") || is("/") || is("//")) {
    const StringRef Sign = Tokens[Next++].Spelling;
    V = combine(Sign, V, unary(Known));
  }
  return V;
}

ForeignValue PythonReader::unary(Variables &Known) {
  if (!take("-"))
    return primary(Known);
  return combine("-", ForeignValue::of(int64_t(0)), primary(Known));
}

/// The arguments of a call, after the opening bracket.
ForeignValue PythonReader::arguments(Variables &Known, StringRef Callee,
                                     size_t Begin) {
  std::vector<ForeignValue::Member> Members;
  Members.push_back({{"call", {}}, ForeignValue::of(Callee.str())});
  unsigned Position = 0;
  while (!is(")") && here().Is != PythonKind::End) {
    const PythonToken &First = here();
    ast::Word Key{"arg" + std::to_string(Position),
                  Source.range(First.Begin, First.End)};
    if (First.Is == PythonKind::Name &&
        Tokens[Next + 1].Is == PythonKind::Sign &&
        Tokens[Next + 1].Spelling == "=") {
      Key.Text = First.Spelling.str();
      Next += 2;
    } else {
      ++Position;
    }
    Members.push_back({std::move(Key), whole(Known)});
    if (!take(",") && !is(")"))
      skipTo([](const PythonToken &T) {
        return T.Is == PythonKind::Sign && T.Spelling == ")";
      });
  }
  take(")");
  const SourceRange Range =
      Source.range(Tokens[Begin].Begin, Tokens[Next - 1].End);
  Members.front().Key.Range = Members.front().Is.Range = Range;
  return ForeignValue::of(std::move(Members), Range);
}

/// The elements of a list or a tuple, after the opening bracket.
ForeignValue PythonReader::sequence(Variables &Known, StringRef Close) {
  const size_t Begin = Next - 1;
  std::vector<ForeignValue> Elements;
  bool HasComma = false;
  while (!is(Close) && here().Is != PythonKind::End) {
    Elements.push_back(whole(Known));
    if (take(","))
      HasComma = true;
    else if (!is(Close))
      skipTo([&](const PythonToken &T) {
        return T.Is == PythonKind::Sign && T.Spelling == Close;
      });
  }
  take(Close);
  if (Close == ")" && !HasComma && Elements.size() == 1)
    return Elements.front();
  return ForeignValue::of(
      std::move(Elements),
      Source.range(Tokens[Begin].Begin, Tokens[Next - 1].End));
}

/// A name with attributes, which may be called.
ForeignValue PythonReader::name(Variables &Known) {
  const size_t Begin = Next;
  std::string Path = Tokens[Next++].Spelling.str();
  const auto Variable = Known.find(Path);
  ForeignValue V = Variable == Known.end() ? ForeignValue() : Variable->second;
  while (is(".") && Tokens[Next + 1].Is == PythonKind::Name) {
    const StringRef Attribute = Tokens[Next + 1].Spelling;
    const ForeignValue *Member = spend(V) ? V.find(Attribute) : nullptr;
    V = Member ? *Member : ForeignValue();
    Path += "." + Attribute.str();
    Next += 2;
  }
  if (!take("("))
    return V.isMissing() ? written(Begin) : V;
  ForeignValue Call = arguments(Known, Path, Begin);
  const auto Own = Places.find(Path);
  return Own == Places.end() ? Call : call(Own->second);
}

ForeignValue PythonReader::primary(Variables &Known) {
  const PythonToken &First = here();
  const SourceRange Range = Source.range(First.Begin, First.End);
  if (First.Is == PythonKind::Number) {
    ++Next;
    std::string Digits = First.Spelling.str();
    llvm::erase(Digits, '_');
    return readScalar(Digits, Range);
  }
  if (First.Is == PythonKind::Text) {
    std::string All;
    while (here().Is == PythonKind::Text)
      All += Tokens[Next++].Spelling;
    return ForeignValue::of(std::move(All), Range);
  }
  if (First.Is == PythonKind::Name) {
    if (First.Spelling == "True" || First.Spelling == "False") {
      ++Next;
      return ForeignValue::of(First.Spelling == "True", Range);
    }
    if (First.Spelling == "None") {
      ++Next;
      return ForeignValue::null(Range);
    }
    return name(Known);
  }
  if (take("("))
    return sequence(Known, ")");
  if (take("["))
    return sequence(Known, "]");
  return {};
}

} // namespace foretrace::importers
