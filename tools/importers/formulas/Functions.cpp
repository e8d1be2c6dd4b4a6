// SPDX-License-Identifier: Apache-2.0
//
// The functions that formulas call.
#include "lang/Compute.h"
#include "lang/diagnostics/Import.h"
#include "tools/importers/formulas/FormulaEvaluator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace llvm;

namespace foretrace::importers {

using Kind = ForeignValue::Kind;
using Values = ArrayRef<ForeignValue>;

// Each of the following is a function of formulas, with the name that the table
// below has for it.

static ForeignValue isList(Values Of, DiagnosticEngine &) {
  return ForeignValue::of(Of[0].Is == Kind::List, Of[0].Range);
}

static std::string textOfWords(const ForeignValue &V) {
  if (V.Is == Kind::Text)
    return V.Text;
  if (V.Is != Kind::List)
    return V.print();
  return join(map_range(*V.Elements, textOfWords), " ");
}

/// The elements of a list, or a single value, as a text.
static ForeignValue words(Values Of, DiagnosticEngine &) {
  return ForeignValue::of(textOfWords(Of[0]), Of[0].Range);
}

/// The words of a text, which blanks separate, as a list.
static ForeignValue splitWords(Values Of, DiagnosticEngine &) {
  std::vector<ForeignValue> Words;
  for (StringRef W : split(Of[0].Text, ' '))
    if (!W.empty())
      Words.push_back(ForeignValue::of(W.str()));
  return ForeignValue::of(std::move(Words), Of[0].Range);
}

/// The digits at the end of a text, or of the last text of a list.
static ForeignValue lastNumber(Values Of, DiagnosticEngine &) {
  const std::string All = textOfWords(Of[0]);
  const StringRef Digits = StringRef(All).take_back(
      All.size() - StringRef(All).rtrim("0123456789").size());
  return Digits.empty() ? ForeignValue() : readScalar(Digits, Of[0].Range);
}

/// The number that a text is.
static ForeignValue number(Values Of, DiagnosticEngine &) {
  return Of[0].Is == Kind::Text ? readScalar(Of[0].Text, Of[0].Range) : Of[0];
}

/// A number of tokens as vLLM reads it: `32K` is 32 x 1024, `25.6k` is 25,600
/// (engine/arg_utils.py, human_readable_int).
static ForeignValue tokens(Values Of, DiagnosticEngine &Diags) {
  constexpr StringLiteral Suffixes = "kmgtKMGT";
  const ForeignValue &V = Of[0];
  if (V.Is == Kind::Integer)
    return V;
  const size_t At =
      V.Text.empty() ? StringRef::npos : Suffixes.find(V.Text.back());
  double Number;
  if (At != StringRef::npos &&
      !StringRef(V.Text).drop_back().getAsDouble(Number)) {
    const bool IsBinary = At >= Suffixes.size() / 2;
    if (!IsBinary || Number == std::trunc(Number))
      return ForeignValue::of(
          std::trunc(Number * std::pow(IsBinary ? 1024 : 1000, At % 4 + 1)),
          V.Range);
  }
  Diags.report(V.Range, diag::ImportValueKind, V.print(),
               "a number of tokens, such as 32768, 32K or 32.8k");
  return {};
}

/// A number as a decimal of a job, with six digits at most.
static ForeignValue decimal(Values Of, DiagnosticEngine &) {
  const std::string Digits = formatv("{0:F6}", Of[0].number());
  ForeignValue Made = ForeignValue::of(
      StringRef(Digits).rtrim('0').rtrim('.').str(), Of[0].Range);
  Made.IsFormula = true;
  return Made;
}

static ForeignValue text(Values Of, DiagnosticEngine &) {
  return ForeignValue::of(Of[0].print(), Of[0].Range);
}

/// A text of the input as a word of a job.
static ForeignValue word(Values Of, DiagnosticEngine &Diags) {
  const StringRef Text = Of[0].Text;
  if (!Text.empty() &&
      all_of(Text, [](char C) { return isAlnum(C) || C == '_'; }))
    return ForeignValue::of(Text.str());
  Diags.report(Of[0].Range, diag::ImportValueKind, "this text", "a word");
  return {};
}

/// Returns a text of the input as one of a job, in quotes even if it is a word.
static ForeignValue quoted(Values Of, DiagnosticEngine &Diags) {
  if (StringRef(Of[0].Text).find_first_of("\"\\{}\n") == StringRef::npos) {
    ForeignValue Quoted =
        ForeignValue::of("\"" + Of[0].Text + "\"", Of[0].Range);
    Quoted.IsFormula = true;
    return Quoted;
  }
  Diags.report(Of[0].Range, diag::ImportValueKind, "this text",
               "one without quotes, braces and backslashes");
  return {};
}

/// A text as an expression of the language that is written, without quotes.
static ForeignValue expression(Values Of, DiagnosticEngine &) {
  ForeignValue Made = Of[0];
  Made.IsFormula = true;
  return Made;
}

static ForeignValue repeat(Values Of, DiagnosticEngine &) {
  constexpr int64_t Most = 10000;
  std::string All;
  for (int64_t I = 0; I < std::min(Of[1].Integer, Most); ++I)
    All += Of[0].Text;
  return ForeignValue::of(std::move(All), Of[1].Range);
}

/// Returns whether a list contains an element, or a text a substring.
static ForeignValue contains(Values Of, DiagnosticEngine &) {
  const ForeignValue &In = Of[0];
  const bool Has = In.Is == Kind::Text
                       ? StringRef(In.Text).contains(Of[1].Text)
                       : In.Is == Kind::List &&
                             any_of(*In.Elements, [&](const ForeignValue &V) {
                               return areEqual(V, Of[1]);
                             });
  return ForeignValue::of(Has, In.Range);
}

/// The element of a list or the character of a text with that number; of a
/// negative one, as index_of has for what it has not found, none. A single
/// value is that of all numbers.
static ForeignValue at(Values Of, DiagnosticEngine &Diags) {
  const ForeignValue &In = Of[0], &At = Of[1];
  if (At.Is != Kind::Integer || At.Integer < 0)
    return {};
  if (In.Is != Kind::List && In.Is != Kind::Text)
    return In;
  const auto I = static_cast<size_t>(At.Integer);
  const size_t Size =
      In.Is == Kind::List ? In.Elements->size() : In.Text.size();
  if (I < Size)
    return In.Is == Kind::List
               ? (*In.Elements)[I]
               : ForeignValue::of(In.Text.substr(I, 1), In.Range);
  Diags.report(In.Range, diag::ImportListShort, Size, At.Integer + 1);
  return {};
}

static ForeignValue member(Values Of, DiagnosticEngine &) {
  const ForeignValue *In = Of[0].find(Of[1].Text);
  return In ? *In : ForeignValue::null(Of[0].Range);
}

/// The number of elements of a list or of characters of a text.
static ForeignValue length(Values Of, DiagnosticEngine &Diags) {
  const ForeignValue &V = Of[0];
  if (V.Is == Kind::Text)
    return ForeignValue::of(static_cast<int64_t>(V.Text.size()), V.Range);
  if (V.Is == Kind::List)
    return ForeignValue::of(static_cast<int64_t>(V.Elements->size()), V.Range);
  Diags.report(V.Range, diag::ImportValueKind, V.kindName(), "a list");
  return {};
}

/// Returns whether all elements of a list have the same spelling.
static ForeignValue isUniform(Values Of, DiagnosticEngine &) {
  const std::vector<ForeignValue> &All = *Of[0].Elements;
  return ForeignValue::of(all_of(All,
                                 [&](const ForeignValue &V) {
                                   return V.print() == All.front().print();
                                 }),
                          Of[0].Range);
}

/// The smallest number of elements that, repeated, make \p All.
static size_t periodOf(ArrayRef<ForeignValue> All) {
  for (size_t Period = 1; Period < All.size(); ++Period)
    if (All.size() % Period == 0 &&
        std::equal(All.begin() + Period, All.end(), All.begin(), areEqual))
      return Period;
  return All.size();
}

/// A list as an expression of Python without blanks, as Megatron-LM reads it:
/// `[0]*3+[1]*58`, `([1]*5+[0])*8`.
static ForeignValue pattern(Values Of, DiagnosticEngine &) {
  const ArrayRef<ForeignValue> All = *Of[0].Elements;
  const size_t Period = periodOf(All);
  const auto Times = [](size_t N) {
    return N == 1 ? std::string() : "*" + std::to_string(N);
  };
  std::vector<std::string> Runs;
  for (size_t I = 0, End; I != Period; I = End) {
    for (End = I + 1; End != Period && areEqual(All[End], All[I]);)
      ++End;
    Runs.push_back("[" + All[I].print() + "]" + Times(End - I));
  }
  const size_t Repeats = Period == 0 ? 0 : All.size() / Period;
  std::string Text = join(Runs, "+");
  if (Repeats > 1)
    Text = (Runs.size() > 1 ? "(" + Text + ")" : Text) + Times(Repeats);
  return ForeignValue::of(Text, Of[0].Range);
}

static ForeignValue without(Values Of, DiagnosticEngine &) {
  if (Of[0].Is != Kind::Map)
    return Of[0];
  SmallVector<StringRef, 8> Keys;
  SplitString(Of[1].Text, Keys);
  std::vector<ForeignValue::Member> Others;
  copy_if(*Of[0].Members, std::back_inserter(Others),
          [&](const ForeignValue::Member &M) {
            return !is_contained(Keys, M.Key.Text);
          });
  return ForeignValue::of(std::move(Others), Of[0].Range);
}

/// The numbers of the elements that are the second argument.
static ForeignValue indicesOf(Values Of, DiagnosticEngine &) {
  std::vector<ForeignValue> All;
  for (const auto &[I, V] : enumerate(*Of[0].Elements))
    if (areEqual(V, Of[1]))
      All.push_back(ForeignValue::of(static_cast<int64_t>(I)));
  return ForeignValue::of(std::move(All), Of[0].Range);
}

/// Returns the index of the first such element; -1 if there is none.
static ForeignValue indexOf(Values Of, DiagnosticEngine &) {
  const auto At = find_if(*Of[0].Elements, [&](const ForeignValue &V) {
    return areEqual(V, Of[1]);
  });
  return ForeignValue::of(
      At == Of[0].Elements->end() ? int64_t(-1) : At - Of[0].Elements->begin());
}

static ForeignValue joined(Values Of, DiagnosticEngine &) {
  const auto TextOf = [](const ForeignValue &V) { return V.Text; };
  return ForeignValue::of(join(map_range(*Of[0].Elements, TextOf), Of[1].Text),
                          Of[0].Range);
}

static ForeignValue trunc(Values Of, DiagnosticEngine &) {
  return ForeignValue::of(std::trunc(Of[0].number()), Of[0].Range);
}

/// The first argument if they are in the order \p Op, as of `min` and `max`.
template <BinaryOp Op>
static ForeignValue choose(Values Of, DiagnosticEngine &) {
  return compare(Op, Of[0].number(), Of[1].number()) ? Of[0] : Of[1];
}

/// The quotient of two numbers, rounded by \p Round.
template <double (*Round)(double)>
static ForeignValue quotient(Values Of, DiagnosticEngine &Diags) {
  if (Of[1].number() != 0)
    return ForeignValue::of(Round(Of[0].number() / Of[1].number()),
                            Of[0].Range);
  Diags.report(Of[1].Range, diag::ImportOverflow);
  return {};
}

static ForeignValue roundUp(Values Of, DiagnosticEngine &Diags) {
  const ForeignValue Times = quotient<std::ceil>(Of, Diags);
  return Times.isMissing()
             ? Times
             : ForeignValue::of(Times.number() * Of[1].number(), Of[0].Range);
}

namespace {

struct Function {
  StringLiteral Name;
  unsigned Arity;
  /// The kind of the first argument, or of all with `Numbers`. Functions check
  /// the others.
  enum { Any, Text, List, Numbers } Needs;
  ForeignValue (*Call)(Values Of, DiagnosticEngine &Diags);
};

} // namespace

static constexpr Function Functions[] = {
    {"at", 2, Function::Any, at},
    {"ceil_div", 2, Function::Numbers, quotient<std::ceil>},
    {"contains", 2, Function::Any, contains},
    {"decimal", 1, Function::Numbers, decimal},
    {"expression", 1, Function::Text, expression},
    {"floor_div", 2, Function::Numbers, quotient<std::floor>},
    {"index_of", 2, Function::List, indexOf},
    {"indices_of", 2, Function::List, indicesOf},
    {"is_list", 1, Function::Any, isList},
    {"is_uniform", 1, Function::List, isUniform},
    {"join", 2, Function::List, joined},
    {"last_number", 1, Function::Any, lastNumber},
    {"length", 1, Function::Any, length},
    {"max", 2, Function::Numbers, choose<BinaryOp::Ge>},
    {"member", 2, Function::Any, member},
    {"min", 2, Function::Numbers, choose<BinaryOp::Le>},
    {"number", 1, Function::Any, number},
    {"pattern", 1, Function::List, pattern},
    {"quoted", 1, Function::Text, quoted},
    {"repeat", 2, Function::Text, repeat},
    {"round_up", 2, Function::Numbers, roundUp},
    {"split_words", 1, Function::Text, splitWords},
    {"text", 1, Function::Any, text},
    {"tokens", 1, Function::Any, tokens},
    {"trunc", 1, Function::Numbers, trunc},
    {"without", 2, Function::Any, without},
    {"word", 1, Function::Text, word},
    {"words", 1, Function::Any, words},
};

/// Returns whether \p F takes these arguments; reports the first it does not.
static bool checkArguments(const Function &F, Values Of,
                           DiagnosticEngine &Diags) {
  const bool OfAll = F.Needs == Function::Numbers;
  for (const ForeignValue &V : OfAll ? Of : Of.take_front()) {
    const bool IsRight = F.Needs == Function::Any    ? true
                         : F.Needs == Function::Text ? V.Is == Kind::Text
                         : F.Needs == Function::List ? V.Is == Kind::List
                                                     : V.isNumber();
    if (IsRight)
      continue;
    Diags.report(V.Range, diag::ImportValueKind, V.kindName(),
                 OfAll                       ? "a number"
                 : F.Needs == Function::List ? "a list"
                                             : "a text");
    return false;
  }
  return true;
}

ForeignValue callFunction(StringRef Name, Values Of, DiagnosticEngine &Diags) {
  const Function *F =
      find_if(Functions, [&](const Function &Row) { return Row.Name == Name; });
  assert(F != std::end(Functions) && F->Arity == Of.size() &&
         "a page calls what there is not");
  return checkArguments(*F, Of, Diags) ? F->Call(Of, Diags) : ForeignValue();
}

} // namespace foretrace::importers
