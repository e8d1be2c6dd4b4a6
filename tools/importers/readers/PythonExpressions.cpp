// SPDX-License-Identifier: Apache-2.0
#include "lang/Compute.h"
#include "tools/importers/readers/PythonReader.h"
#include "llvm/ADT/STLExtras.h"

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

ForeignValue PythonReader::expression() {
  Variables None;
  ForeignValue V = whole(None);
  return here().Is == PythonKind::NewLine &&
                 Tokens[Next + 1].Is == PythonKind::End
             ? V
             : ForeignValue();
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

/// Evaluates sums of lists, and lists times integers; missing otherwise.
static ForeignValue combineLists(StringRef Sign, const ForeignValue &L,
                                 const ForeignValue &R) {
  constexpr size_t MaxElements = 10000; // more than layers of any model
  using Kind = ForeignValue::Kind;
  const ForeignValue &List = L.Is == Kind::List ? L : R;
  const ForeignValue &Other = L.Is == Kind::List ? R : L;
  if (List.Is != Kind::List)
    return {};
  std::vector<ForeignValue> All;
  const size_t Size = List.Elements->size();
  if (Sign == "+" && Other.Is == Kind::List &&
      Size + Other.Elements->size() <= MaxElements) {
    All = *L.Elements;
    append_range(All, *R.Elements);
  } else if (Sign == "*" && Other.Is == Kind::Integer && Other.Integer >= 0 &&
             static_cast<uint64_t>(Other.Integer) <= MaxElements &&
             static_cast<size_t>(Other.Integer) * Size <= MaxElements) {
    for (int64_t I = 0; I != Other.Integer; ++I)
      append_range(All, *List.Elements);
  } else {
    return {};
  }
  return ForeignValue::of(std::move(All), L.Range.to(R.Range));
}

static ForeignValue combine(StringRef Sign, const ForeignValue &L,
                            const ForeignValue &R) {
  const BinaryOp Op = Sign == "//" ? BinaryOp::FloorDiv : operatorOf(Sign);
  if (!L.isNumber() || !R.isNumber())
    return combineLists(Sign, L, R);
  if ((Op == BinaryOp::Div || Op == BinaryOp::FloorDiv) && R.number() == 0)
    return {};
  return ForeignValue::of(compute(Op, L.number(), R.number()),
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
