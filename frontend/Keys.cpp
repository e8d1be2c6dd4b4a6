// SPDX-License-Identifier: Apache-2.0
//
// Checks the values of the keys of ir/model/Spec.def, and guesses what was
// meant by others.
#include "frontend/Keys.h"
#include "frontend/Frontend.h"
#include "ir/text/TextWriter.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;

namespace {

/// What an integer key of ir/model/Spec.def may hold.
struct NumberType {
  llvm::StringRef Name;
  Dimension Dim;
  int64_t Least;
  /// Less than this, a number without a unit was meant in another one.
  int64_t Plausible = 0;
  llvm::StringRef BaseUnit = {}, MeantUnit = {}, MeantPower = {};
};

/// A key, whatever its section.
struct AnyKey {
  llvm::StringRef Section, Name, Aliases;
};

} // namespace

static constexpr NumberType NumberTypes[] = {
    {"Int", Dimension::Count, 1},
    {"Natural", Dimension::Count, 0},
    {"ByteSize", Dimension::Bytes, 1, 1'000'000, "B", "GB", "e9"},
    {"FlopRate", Dimension::FlopRate, 1, 1'000'000'000, "FLOP/s", "TFLOP/s",
     "e12"},
    {"DataRate", Dimension::DataRate, 1, 1'000'000, "B/s", "GB/s", "e9"},
    {"Duration", Dimension::Time, 0, 100, "ns", "us", "e3"},
};

static constexpr AnyKey AllKeys[] = {
#define SPEC_FIELD(SECTION, TYPE, MEMBER, KEY, NEEDED, ALIASES, DOC)           \
  {#SECTION, KEY, ALIASES},
#include "ir/model/Spec.def"
#define FOREIGN_KEY(SECTION, KEY, ALIASES) {#SECTION, KEY, ALIASES},
#include "frontend/Foreign.def"
};

std::optional<int64_t> KeyReader::checkNumber(llvm::StringRef Name,
                                              llvm::StringRef Type,
                                              const Value &V) {
  const NumberType &T = *llvm::find_if(
      NumberTypes, [&](const NumberType &N) { return N.Name == Type; });
  if (!V.isNumber()) {
    Diags.report(V.Range, diag::WrongType, Name, describe(V), getName(T.Dim));
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
  if (*I < T.Least) {
    Diags.report(V.Range, T.Least ? diag::NotPositive : diag::IsNegative, Name,
                 *I);
    return std::nullopt;
  }
  return *I;
}

void KeyReader::read(const Field &F, llvm::StringRef Type,
                     Located<int64_t> &Out) {
  std::optional<Value> V = Eval.evaluate(*F.Value, *F.Names);
  if (!V)
    return;
  if (std::optional<int64_t> I = checkNumber(F.Key.Text, Type, *V))
    Out.state(*I, F.Value->Range);
}

void KeyReader::read(const Field &F, llvm::StringRef, Located<bool> &Out) {
  std::optional<Value> V = Eval.evaluate(*F.Value, *F.Names);
  if (!V)
    return;
  if (const bool *B = V->getIf<bool>())
    return Out.state(*B, F.Value->Range);
  Diags.report(V->Range, diag::WrongType, F.Key.Text, describe(*V),
               "`true` or `false`");
}

void KeyReader::read(const Field &F, llvm::StringRef,
                     Located<std::string> &Out) {
  std::optional<Value> V = Eval.evaluate(*F.Value, *F.Names);
  if (!V)
    return;
  if (const std::string *Text = V->getIf<std::string>())
    return Out.state(*Text, F.Value->Range);
  Diags.report(V->Range, diag::WrongType, F.Key.Text, describe(*V), "a string");
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

std::optional<ast::Word>
KeyReader::readWord(const Field &F, llvm::ArrayRef<llvm::StringRef> Spellings) {
  std::optional<Value> V = Eval.evaluate(*F.Value, *F.Names, Words::Any);
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

void KeyReader::reportSpelling(const ast::Word &W,
                               llvm::ArrayRef<llvm::StringRef> Spellings,
                               llvm::StringRef Foreign) {
  const llvm::SmallVector<std::string> Written(
      llvm::map_range(Spellings, write));
  DiagnosticBuilder B = Diags.report(W.Range, diag::UnknownSpelling,
                                     write(W.Text), llvm::join(Written, ", "));
  if (Foreign.empty())
    suggest(B, W.Range, write(W.Text),
            llvm::SmallVector<llvm::StringRef>(Written.begin(), Written.end()));
  else
    B.note(W.Range, diag::AliasOfKey, W.Text, Foreign).fix(W.Range, Foreign);
}

/// The row of a key of \p Section that is called \p Word elsewhere, or null.
static const AnyKey *findForeign(llvm::StringRef Word,
                                 llvm::StringRef Section) {
  const AnyKey *Row = llvm::find_if(AllKeys, [&](const AnyKey &K) {
    return ir::keywordOf(K.Section) == Section && ir::isAlias(Word, K.Aliases);
  });
  return Row == std::end(AllKeys) ? nullptr : Row;
}

/// The row of a key with this name or alias that another section has, or null.
static const AnyKey *findElsewhere(llvm::StringRef Word,
                                   llvm::StringRef Section) {
  const AnyKey *Row = llvm::find_if(AllKeys, [&](const AnyKey &K) {
    return ir::keywordOf(K.Section) != Section &&
           (K.Name == Word || ir::isAlias(Word, K.Aliases));
  });
  return Row == std::end(AllKeys) ? nullptr : Row;
}

std::string foretrace::pathOfKey(llvm::StringRef Name) {
  for (const AnyKey &K : AllKeys)
    if (K.Name == Name &&
        llvm::is_contained({"Model", "Train", "Parallel", "Cost", "Cluster"},
                           K.Section))
      return ir::keywordOf(K.Section) + "." + Name.str();
  return "";
}

bool foretrace::hasOrMeant(const Body &B, llvm::StringRef Key,
                           llvm::StringRef Section,
                           llvm::ArrayRef<llvm::StringRef> Names) {
  return llvm::any_of(B.Fields, [&](const Field &F) {
    llvm::StringRef Word = F.Key.Text;
    if (Word == Key || llvm::is_contained(Names, Word))
      return Word == Key;
    if (const AnyKey *Row = findForeign(Word, Section))
      return Row->Name == Key;
    return !findElsewhere(Word, Section) && nearestWord(Word, Names) == Key;
  });
}

void foretrace::reportUnknownKey(const Field &F, llvm::StringRef Section,
                                 llvm::ArrayRef<llvm::StringRef> Names,
                                 DiagnosticEngine &Diags) {
  const ast::Word &K = F.Key;
  DiagnosticBuilder B =
      Diags.report(K.Range, diag::UnknownKey, K.Text, Section);
  if (B.isDropped())
    return;
  if (const AnyKey *Row = findForeign(K.Text, Section))
    B.note(K.Range, diag::AliasOfKey, K.Text, Row->Name)
        .fix(K.Range, Row->Name);
  else if (const AnyKey *Row = findElsewhere(K.Text, Section))
    B.note(K.Range, diag::KeyOfSection, Row->Name, ir::keywordOf(Row->Section));
  else if (!nearestWord(K.Text, Names).empty())
    suggest(B, K.Range, K.Text, Names);
  else if (!Names.empty())
    B.note(K.Range, diag::KeysOfSection, Section, llvm::join(Names, ", "));
}
