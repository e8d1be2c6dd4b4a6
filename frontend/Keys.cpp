// SPDX-License-Identifier: Apache-2.0
//
// Checks the values of the keys of ir/model/Spec.def.
#include "frontend/Keys.h"
#include "frontend/ForeignNames.h"
#include "frontend/Frontend.h"
#include "ir/text/TextWriter.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace foretrace;

namespace {

/// Limits of an integer key of ir/model/Spec.def.
struct NumberType {
  llvm::StringRef Name;
  Dimension Dim;
  int64_t Least;
  /// Less than this, a number without a unit was meant in another one.
  int64_t Plausible = 0;
  llvm::StringRef BaseUnit = {}, MeantUnit = {}, MeantPower = {};
};

} // namespace

static constexpr NumberType NumberTypes[] = {
    {"Int", Dimension::Count, 1},
    {"Natural", Dimension::Count, 0},
    {"ByteSize", Dimension::Bytes, 1, 1'000'000, "B", "GB", "e9"},
    {"FlopRate", Dimension::FlopRate, 1, 1'000'000'000, "FLOP/s", "TFLOP/s",
     "e12"},
    {"DataRate", Dimension::DataRate, 1, 1'000'000, "B/s", "GB/s", "e9"},
    // Network cards are sold by bits.
    {"NetworkRate", Dimension::DataRate, 1, 1'000'000, "B/s", "Gbit/s",
     " GB/s"},
    {"Duration", Dimension::Time, 0, 100, "ns", "us", "e3"},
};

/// Warns of `4K`, which is 4000 but usually meant to be 4096.
void KeyReader::warnOfDecimal(llvm::StringRef Name, const ExprValue &V,
                              int64_t Is) {
  static constexpr std::pair<llvm::StringRef, int64_t> Decimals[] = {
      {"K", 1'000},
      {"M", 1'000'000},
      {"G", 1'000'000'000},
      {"T", 1'000'000'000'000}};
  int64_t Binary = int64_t(1) << 10;
  for (auto [Prefix, Decimal] : Decimals) {
    int64_t Meant;
    if (V.Prefix == Prefix && Is % Decimal == 0 &&
        !llvm::MulOverflow(Is / Decimal, Binary, Meant)) {
      const std::string Written = llvm::itostr(Is / Decimal) + Prefix.str();
      Diags.report(V.Range, diag::DecimalCount, Name, Written, Is, Meant)
          .fix(V.Range, Written + "i");
    }
    Binary <<= 10;
  }
}

/// Returns a number up to \p Most in millionths.
static std::optional<int64_t> checkMillionths(llvm::StringRef Name,
                                              const ExprValue &V, double Most,
                                              llvm::StringRef Expected,
                                              DiagnosticEngine &Diags) {
  constexpr double Scale = 1e6;
  if (V.isNumber() && V.Dim == Dimension::Count) {
    const double Millionths = std::round(V.asReal() * Scale);
    if (Millionths >= 1 && Millionths <= Most * Scale)
      return static_cast<int64_t>(Millionths);
  }
  Diags.report(V.Range, diag::WrongType, Name, describe(V), Expected);
  return std::nullopt;
}

std::optional<int64_t> KeyReader::checkNumber(llvm::StringRef Name,
                                              llvm::StringRef Type,
                                              const ExprValue &V) {
  if (Type == "Fraction")
    return checkMillionths(Name, V, 1, "a fraction above 0 and up to 1", Diags);
  if (Type == "PerSecond")
    return checkMillionths(Name, V, 1e9, "a number above 0 and up to 1e9",
                           Diags);
  const NumberType &T = *llvm::find_if(
      NumberTypes, [&](const NumberType &N) { return N.Name == Type; });
  if (!V.isNumber()) {
    DiagnosticBuilder B = Diags.report(V.Range, diag::WrongType, Name,
                                       describe(V), getName(T.Dim));
    int64_t Quoted;
    if (const std::string *Text = V.getIf<std::string>();
        Text && !llvm::StringRef(*Text).getAsInteger(10, Quoted))
      B.note(V.Range, diag::DidYouMean, *Text).fix(V.Range, *Text);
    return std::nullopt;
  }
  if (V.Dim == Dimension::Count && V.asReal() > 0 &&
      V.asReal() < static_cast<double>(T.Plausible)) {
    Diags.report(V.Range, diag::MissingUnit, Name, *format(V), T.BaseUnit,
                 T.MeantUnit, T.MeantPower);
    return std::nullopt;
  }
  if (T.Dim != Dimension::Count && !V.Prefix.empty()) {
    std::vector<llvm::StringRef> Like = unitsLike(V.Prefix, T.Dim);
    if (Like.empty())
      Like.push_back(T.MeantUnit);
    Diags.report(V.Range, diag::ScaledCount, Name, V.Prefix, getName(T.Dim),
                 llvm::join(Like, "` or `"));
    return std::nullopt;
  }
  // A plain number is in the base unit; a unit must be of the right kind.
  if (V.Dim != T.Dim && V.Dim != Dimension::Count) {
    Diags.report(V.Range, diag::WrongUnit, Name, describe(V), getName(T.Dim));
    return std::nullopt;
  }
  const int64_t *I = V.getIf<int64_t>();
  int64_t Whole = 0;
  if (!I && T.Dim != Dimension::Count) { // 989.4e12 FLOP/s is a whole number
    double Real = V.asReal();
    if (Real >= -0x1p62 && Real <= 0x1p62 &&
        static_cast<double>(Whole = static_cast<int64_t>(Real)) == Real)
      I = &Whole;
  }
  if (!I) {
    Diags.report(V.Range, diag::WrongType, Name, "a decimal", "a whole number");
    return std::nullopt;
  }
  if (T.Dim == Dimension::Count)
    warnOfDecimal(Name, V, *I);
  if (*I < T.Least) {
    Diags.report(V.Range, T.Least ? diag::NotPositive : diag::IsNegative, Name,
                 *I);
    return std::nullopt;
  }
  return *I;
}

/// Returns whether \p E uses the number of a layer, which \p Names do not
/// define.
static bool usesLayer(const ast::Expr &E, const Scope &Names) {
  if (const auto *N = std::get_if<ast::Name>(&E.Node))
    return N->Path.size() == 1 && N->Path.front().Text == "layer" &&
           !Names.find("layer");
  return llvm::any_of(ast::operandsOf(E), [&](const ast::Expr *Of) {
    return usesLayer(*Of, Names);
  });
}

bool KeyReader::isOfLayer(const Field &F) {
  if (usesLayer(*F.Value, *F.Names))
    return true;
  if (std::holds_alternative<ast::Number>(F.Value->Node) ||
      std::holds_alternative<ast::Boolean>(F.Value->Node))
    return false;
  // An error in the value is reported when the key is read, too, but shown
  // once.
  const std::optional<ExprValue> V =
      Eval.evaluate(*F.Value, *F.Names, Words::Any);
  return V && V->getIf<ListValue>();
}

std::optional<ExprValue> KeyReader::evaluate(const Field &F, Words W) {
  std::optional<ExprValue> V = Eval.evaluate(*F.Value, *F.Names, W);
  const std::optional<Evaluator::LayerNumber> Layer = Eval.layer();
  const auto *List = V && Layer ? V->getIf<ListValue>() : nullptr;
  if (!List)
    return V;
  const size_t Length = List->Elements.size();
  if (static_cast<int64_t>(Length) == Layer->Of)
    return ExprValue(List->Elements[static_cast<size_t>(Layer->Is)]);
  Diags.report(F.Value->Range, diag::LayerList, F.Key.Text, Length, Layer->Of);
  return std::nullopt;
}

void KeyReader::read(const Field &F, llvm::StringRef Type,
                     Located<int64_t> &Out) {
  std::optional<ExprValue> V = evaluate(F);
  if (!V)
    return;
  if (std::optional<int64_t> I = checkNumber(F.Key.Text, Type, *V))
    Out.state(*I, F.Value->Range);
}

void KeyReader::read(const Field &F, llvm::StringRef, Located<bool> &Out) {
  std::optional<ExprValue> V = evaluate(F);
  if (!V)
    return;
  if (const bool *B = V->getIf<bool>())
    return Out.state(*B, F.Value->Range);
  Diags.report(V->Range, diag::WrongType, F.Key.Text, describe(*V),
               "`true` or `false`");
}

void KeyReader::read(const Field &F, llvm::StringRef Type,
                     Located<std::string> &Out) {
  if (Type == "RoutingText" || Type == "TraceText" || Type == "AcceptanceText")
    return; // the binder reads it, as it can be in a file, or a list
  const bool IsWord = Type == "Word";
  std::optional<ExprValue> V =
      evaluate(F, IsWord ? Words::Any : Words::Spellings);
  if (!V)
    return;
  if (const std::string *Text = IsWord ? V->asText() : V->getIf<std::string>())
    return Out.state(*Text, F.Value->Range);
  Diags.report(V->Range, diag::WrongType, F.Key.Text, describe(*V),
               IsWord ? "a word" : "a string");
}

const ast::Call *foretrace::findFileCall(const Field &F) {
  const auto *Call = std::get_if<ast::Call>(&F.Value->Node);
  return Call && Call->Callee.Text == "file" ? Call : nullptr;
}

void KeyReader::read(const Field &F, llvm::StringRef,
                     Located<ir::ScheduleKind> &Out) {
  if (findFileCall(F))
    Out.state(ir::ScheduleKind::File, F.Value->Range);
  else if (std::optional<ast::Word> W =
               readWord(F, ir::getSpellings<ir::ScheduleKind>()))
    readLabel(*W, Out);
}

/// A word of an enum as it is written: in quotes if it isn't a name.
static std::string write(llvm::StringRef Spelling) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  ir::printName(Spelling, OS);
  return Text;
}

void KeyReader::readWord(const Field &F, llvm::ArrayRef<llvm::StringRef> Words,
                         Located<std::string> &Out) {
  if (Words.empty())
    return read(F, "Word", Out);
  const std::optional<ast::Word> W = readWord(F, Words);
  if (!W)
    return;
  if (llvm::is_contained(Words, W->Text))
    return Out.state(W->Text, W->Range);
  const ForeignName *N = findForeignName("words", W->Text);
  reportSpelling(*W, Words,
                 N && llvm::is_contained(Words, N->Here) ? N->Here : "");
}

std::optional<ast::Word>
KeyReader::readWord(const Field &F, llvm::ArrayRef<llvm::StringRef> Spellings) {
  std::optional<ExprValue> V = evaluate(F, Words::Any);
  if (!V)
    return std::nullopt;
  const SourceRange Range = F.Value->Range;
  if (const std::string *Text = V->asText())
    return ast::Word{*Text, Range};
  DiagnosticBuilder B = Diags.report(V->Range, diag::WrongType, F.Key.Text,
                                     describe(*V), "a word or text");
  const llvm::StringRef Source = Eval.source(Range);
  if (llvm::is_contained(Spellings, Source)) // a version, say
    B.note(Range, diag::DidYouMean, write(Source)).fix(Range, write(Source));
  return std::nullopt;
}

std::string foretrace::joinWords(llvm::ArrayRef<llvm::StringRef> Words) {
  constexpr size_t Most = 16, Shown = 8;
  if (Words.size() <= Most)
    return llvm::join(Words, ", ");
  return llvm::join(Words.take_front(Shown), ", ") + " or " +
         std::to_string(Words.size() - Shown) + " others";
}

void KeyReader::reportSpelling(const ast::Word &W,
                               llvm::ArrayRef<llvm::StringRef> Spellings,
                               llvm::StringRef Foreign) {
  if (const ForeignName *Lacking =
          findForeignName("words_not_modelled", W.Text);
      Lacking && Foreign.empty()) {
    Diags.report(W.Range, diag::NotModelled, W.Text, Lacking->Text);
    return;
  }
  const llvm::SmallVector<std::string> Written(
      llvm::map_range(Spellings, write));
  const llvm::SmallVector<llvm::StringRef> All(Written.begin(), Written.end());
  DiagnosticBuilder B = Diags.report(W.Range, diag::UnknownSpelling,
                                     write(W.Text), joinWords(All));
  if (const ForeignName *Otherwise = findForeignName("words_otherwise", W.Text);
      Otherwise && Foreign.empty())
    B.note(W.Range, diag::SaidOtherwise, Otherwise->Text);
  else if (Foreign.empty())
    suggest(B, W.Range, write(W.Text), All);
  else
    B.note(W.Range, diag::AliasOfKey, W.Text, Foreign).fix(W.Range, Foreign);
}
