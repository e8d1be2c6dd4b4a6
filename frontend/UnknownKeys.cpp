// SPDX-License-Identifier: Apache-2.0
//
// What is said of a key that a section doesn't have: whose it is, what it is
// called here, or what was meant.
#include "frontend/Frontend.h"
#include "frontend/Keys.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;

namespace {

/// A key, whatever its section.
struct AnyKey {
  llvm::StringRef Section, Name, Aliases;
};

} // namespace

static constexpr AnyKey AllKeys[] = {
#define SPEC_FIELD(SECTION, TYPE, MEMBER, KEY, NEEDED, ALIASES, DOC)           \
  {#SECTION, KEY, ALIASES},
#include "ir/model/Spec.def"
#define FOREIGN_KEY(SECTION, KEY, ALIASES) {#SECTION, KEY, ALIASES},
#include "frontend/Foreign.def"
};

/// What becomes of a job without a key or word that it can't have.
struct Absent {
  llvm::StringRef Names, Text;
};

/// The text for \p Word, if one of \p Rows has it.
static std::optional<llvm::StringRef> findAbsent(llvm::ArrayRef<Absent> Rows,
                                                 llvm::StringRef Word) {
  const auto *Row = llvm::find_if(
      Rows, [&](const Absent &A) { return ir::isAlias(Word, A.Names); });
  if (Row == Rows.end())
    return std::nullopt;
  return Row->Text;
}

static constexpr Absent NoEffect[] = {
#define NO_EFFECT(NAMES) {NAMES, ""},
#include "frontend/Unmodelled.def"
};
static constexpr Absent NotModelled[] = {
#define NOT_MODELLED(NAMES, CONSEQUENCE) {NAMES, CONSEQUENCE},
#include "frontend/Unmodelled.def"
};
static constexpr Absent Otherwise[] = {
#define OTHERWISE(NAMES, HOW) {NAMES, HOW},
#include "frontend/Unmodelled.def"
};
static constexpr Absent WordsOtherwise[] = {
#define WORD_OTHERWISE(WORDS, HOW) {WORDS, HOW},
#include "frontend/Unmodelled.def"
};
static constexpr Absent WordsNotModelled[] = {
#define WORD_NOT_MODELLED(WORDS, CONSEQUENCE) {WORDS, CONSEQUENCE},
#include "frontend/Unmodelled.def"
};

/// Whether no key here has the meaning of \p Word.
static bool isWithoutKey(llvm::StringRef Word) {
  return findAbsent(NoEffect, Word) || findAbsent(NotModelled, Word) ||
         findAbsent(Otherwise, Word);
}

std::optional<llvm::StringRef> foretrace::findOtherwise(llvm::StringRef Name) {
  return findAbsent(Otherwise, Name);
}

std::optional<llvm::StringRef>
foretrace::findNotModelled(llvm::StringRef Name) {
  return findAbsent(NotModelled, Name);
}

std::optional<llvm::StringRef>
foretrace::findWordOtherwise(llvm::StringRef Word) {
  return findAbsent(WordsOtherwise, Word);
}

bool foretrace::reportUnmodelled(const ast::Word &Key,
                                 DiagnosticEngine &Diags) {
  const std::optional<llvm::StringRef> Text = findNotModelled(Key.Text);
  if (Text)
    Diags
        .report(Key.Range, diag::NotModelled, Key.Text,
                "without it, " + Text->str())
        .note(Key.Range, diag::SeeLimits);
  return Text.has_value();
}

bool foretrace::reportUnmodelledWord(const ast::Word &Word,
                                     DiagnosticEngine &Diags) {
  const std::optional<llvm::StringRef> Text =
      findAbsent(WordsNotModelled, Word.Text);
  if (Text)
    Diags.report(Word.Range, diag::NotModelled, Word.Text, *Text);
  return Text.has_value();
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

std::vector<llvm::StringRef> foretrace::namesOfKey(llvm::StringRef Word) {
  std::vector<llvm::StringRef> Names;
  for (const AnyKey &K : AllKeys)
    if (K.Name == Word || ir::isAlias(Word, K.Aliases)) {
      llvm::SmallVector<llvm::StringRef, 8> Aliases;
      llvm::SplitString(K.Aliases, Aliases);
      Names.push_back(K.Name);
      llvm::append_range(Names, Aliases);
    }
  return Names;
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
    if (isWithoutKey(Word))
      return false;
    return !findElsewhere(Word, Section) && nearestWord(Word, Names) == Key;
  });
}

void foretrace::reportUnknownKey(const Field &F, llvm::StringRef Section,
                                 llvm::ArrayRef<llvm::StringRef> Names,
                                 DiagnosticEngine &Diags) {
  const ast::Word &K = F.Key;
  if (findAbsent(NoEffect, K.Text)) {
    SourceRange All = K.Range;
    All.End = F.Value->Range.End;
    Diags.report(K.Range, diag::NoEffectHere, K.Text).fix(All, "");
    return;
  }
  if (reportUnmodelled(K, Diags))
    return;
  DiagnosticBuilder B =
      Diags.report(K.Range, diag::UnknownKey, K.Text, Section);
  if (B.isDropped())
    return;
  if (const AnyKey *Row = findForeign(K.Text, Section))
    B.note(K.Range, diag::AliasOfKey, K.Text, Row->Name)
        .fix(K.Range, Row->Name);
  else if (const auto How = findOtherwise(K.Text))
    B.note(K.Range, diag::SaidOtherwise, *How);
  else if (const AnyKey *Row = findElsewhere(K.Text, Section))
    B.note(K.Range, diag::KeyOfSection, Row->Name, ir::keywordOf(Row->Section));
  else if (!nearestWord(K.Text, Names).empty())
    suggest(B, K.Range, K.Text, Names);
  else if (!Names.empty())
    B.note(K.Range, diag::KeysOfSection, Section, llvm::join(Names, ", "));
}
