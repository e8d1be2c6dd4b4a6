// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/readers/ReadPython.h"
#include "tools/importers/readers/PythonTokens.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>
#include <utility>

using namespace llvm;

namespace foretrace::importers {

namespace {

/// Expressions, and functions that call others, may nest this deep.
constexpr unsigned MaxPythonDepth = 50;

/// Evaluates the statements of functions, as far as they are simple.
class PythonReader {
public:
  explicit PythonReader(SourceText Text)
      : Source(Text), Tokens(splitPython(Text.str())) {}
  std::vector<PythonFunction> run();

private:
  using Variables = StringMap<ForeignValue>;

  ForeignValue call(size_t Function);
  ForeignValue replace(const ForeignValue &In, ArrayRef<ast::Word> Path,
                       ForeignValue New);
  bool statement(Variables &Known, ForeignValue &Returned);
  ForeignValue sum(Variables &Known);
  ForeignValue product(Variables &Known);
  ForeignValue unary(Variables &Known);
  ForeignValue primary(Variables &Known);
  ForeignValue name(Variables &Known);
  ForeignValue arguments(Variables &Known, StringRef Callee, size_t Begin);
  ForeignValue sequence(Variables &Known, StringRef Close);
  ForeignValue whole(Variables &Known);
  /// The source from a token up to the current one.
  ForeignValue written(size_t Begin);
  /// Whether all members of \p V may be visited.
  bool spend(const ForeignValue &V);
  void skipTo(function_ref<bool(const PythonToken &)> IsEnd);

  const PythonToken &here() const { return Tokens[Next]; }
  bool is(StringRef Sign) const {
    return here().Is == PythonKind::Sign && here().Spelling == Sign;
  }
  bool take(StringRef Sign) {
    if (!is(Sign))
      return false;
    ++Next;
    return true;
  }

  SourceText Source;
  const std::vector<PythonToken> Tokens;
  struct Function {
    ast::Word Name;
    size_t Body; ///< its first token
    bool IsRead = false;
    ForeignValue Returned = {};
  };
  std::vector<Function> Functions;
  StringMap<size_t> Places; ///< of functions, by their names
  size_t Next = 0;
  /// Members that may still be visited. Objects of many members that are set
  /// one by one would else take long.
  size_t Left = size_t(1) << 22;
  unsigned Depth = 0;
};

} // namespace

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

/// \p In with another value at \p Path.
ForeignValue PythonReader::replace(const ForeignValue &In,
                                   ArrayRef<ast::Word> Path, ForeignValue New) {
  if (Path.empty() || !spend(In))
    return New;
  std::vector<ForeignValue::Member> Members;
  if (In.Is == ForeignValue::Kind::Map)
    Members = *In.Members;
  const auto Old = find_if(Members, [&](const ForeignValue::Member &M) {
    return M.Key.Text == Path.front().Text;
  });
  ForeignValue Inner = replace(Old == Members.end() ? ForeignValue() : Old->Is,
                               Path.drop_front(), std::move(New));
  if (Old == Members.end())
    Members.push_back({Path.front(), std::move(Inner)});
  else
    Old->Is = std::move(Inner);
  return ForeignValue::of(std::move(Members), In.Range);
}

/// Whether the statement is the last one, which returns.
bool PythonReader::statement(Variables &Known, ForeignValue &Returned) {
  if (here().Is == PythonKind::Name && here().Spelling == "return") {
    ++Next;
    Returned = whole(Known);
    return true;
  }
  const size_t Begin = Next;
  std::vector<ast::Word> Path;
  while (here().Is == PythonKind::Name) {
    Path.push_back(
        {here().Spelling.str(), Source.range(here().Begin, here().End)});
    ++Next;
    if (!take("."))
      break;
  }
  if (!Path.empty() && Path.size() < MaxPythonDepth && take("=")) {
    ForeignValue New = whole(Known);
    ForeignValue &Variable = Known[Path.front().Text];
    Variable = replace(Variable, ArrayRef(Path).drop_front(), std::move(New));
  } else {
    Next = Begin;
  }
  return false;
}

/// The result of a function; missing while it is being read, as in a function
/// that calls itself.
ForeignValue PythonReader::call(size_t Of) {
  if (std::exchange(Functions[Of].IsRead, true))
    return Functions[Of].Returned;
  const size_t Before = Next;
  Next = Functions[Of].Body;
  const size_t Column = here().Column;
  Variables Known;
  ForeignValue Returned;
  // Lines that are indented further depend on a condition.
  while (here().Is != PythonKind::End && here().Column != 0) {
    if (here().Column == Column && statement(Known, Returned))
      break;
    skipTo([](const PythonToken &T) { return T.Is == PythonKind::NewLine; });
    if (here().Is == PythonKind::NewLine)
      ++Next;
  }
  Next = Before;
  return Functions[Of].Returned = Returned;
}

std::vector<PythonFunction> PythonReader::run() {
  for (size_t I = 0; I + 2 < Tokens.size(); ++I) {
    const PythonToken &Name = Tokens[I + 1];
    if (Tokens[I].Is != PythonKind::Name || Tokens[I].Spelling != "def" ||
        Tokens[I].Column != 0 ||
        (I != 0 && Tokens[I - 1].Is != PythonKind::NewLine))
      continue;
    Next = I;
    skipTo([](const PythonToken &T) { return T.Is == PythonKind::NewLine; });
    Places.try_emplace(Name.Spelling, Functions.size());
    Functions.push_back(
        {{Name.Spelling.str(), Source.range(Name.Begin, Name.End)}, Next + 1});
  }
  std::vector<PythonFunction> All;
  for (size_t I = 0; I != Functions.size(); ++I)
    if (Functions[I].Body < Tokens.size())
      All.push_back({Functions[I].Name, call(I)});
  if (Left == 0)
    All.clear(); // what was visited is not all
  return All;
}

std::vector<PythonFunction> readPython(SourceText Text) {
  return PythonReader(Text).run();
}

} // namespace foretrace::importers
