// SPDX-License-Identifier: Apache-2.0
//
// What is said of a key that a section doesn't have: whose it is, what it is
// called here, or what was meant.
#include "frontend/ForeignNames.h"
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
  std::string Section;
  llvm::StringRef Name, Aliases;
};

} // namespace

/// Keys of the tables, and those of the library's layers.
static llvm::ArrayRef<AnyKey> allKeys() {
  static const std::vector<AnyKey> Keys = [] {
    std::vector<AnyKey> All = {
#define SPEC_FIELD(SECTION, TYPE, MEMBER, KEY, NEEDED, ALIASES, DOC)           \
  {ir::keywordOf(#SECTION), KEY, ALIASES},
#include "ir/model/Spec.def"
    };
    for (const ForeignName &N : foreignNames())
      if (N.isKey())
        All.push_back({N.Section.str(), N.Here, N.Names});
    return All;
  }();
  return Keys;
}

bool foretrace::reportUnmodelled(const ast::Word &Key,
                                 DiagnosticEngine &Diags) {
  const Mapping::FateOfKey Fate = fateInJobs(Key.Text);
  if (Fate.Is != Mapping::Fate::NotModelled)
    return false;
  Diags.report(Key.Range, diag::NotModelled, Key.Text, Fate.Consequence)
      .note(Key.Range, diag::SeeLimits);
  return true;
}

/// The row of a key of \p Section that is called \p Word elsewhere, or null.
static const AnyKey *findForeign(llvm::StringRef Word,
                                 llvm::StringRef Section) {
  const auto *Row = llvm::find_if(allKeys(), [&](const AnyKey &K) {
    return K.Section == Section && ir::isAlias(Word, K.Aliases);
  });
  return Row == allKeys().end() ? nullptr : Row;
}

/// The row of a key with this name or alias that another section has, or null.
static const AnyKey *findElsewhere(llvm::StringRef Word,
                                   llvm::StringRef Section) {
  const auto *Row = llvm::find_if(allKeys(), [&](const AnyKey &K) {
    return K.Section != Section &&
           (K.Name == Word || ir::isAlias(Word, K.Aliases));
  });
  return Row == allKeys().end() ? nullptr : Row;
}

std::vector<llvm::StringRef> foretrace::namesOfKey(llvm::StringRef Word) {
  std::vector<llvm::StringRef> Names;
  for (const AnyKey &K : allKeys())
    if (K.Name == Word || ir::isAlias(Word, K.Aliases)) {
      llvm::SmallVector<llvm::StringRef, 8> Aliases;
      llvm::SplitString(K.Aliases, Aliases);
      Names.push_back(K.Name);
      llvm::append_range(Names, Aliases);
    }
  return Names;
}

std::string foretrace::pathOfKey(llvm::StringRef Name) {
  for (const AnyKey &K : allKeys())
    if (K.Name == Name &&
        llvm::is_contained({"model", "train", "parallel", "cost", "cluster"},
                           K.Section))
      return K.Section + "." + Name.str();
  return "";
}

namespace {

/// The likely meaning of an unknown key.
struct Meaning {
  enum class Kind : unsigned char {
    Alias,       ///< a key of the section
    Otherwise,   ///< keys of another meaning
    Elsewhere,   ///< a key of another section
    NotModelled, ///< something that jobs lack
    NoEffect,    ///< nothing that is derived
    Slip,        ///< a key of the section, misspelt
    Unknown,
  };
  Kind Is;
  llvm::StringRef Text = {};    ///< the key, or what its note says
  llvm::StringRef Section = {}; ///< of a key that is elsewhere
};

} // namespace

/// Finds the meaning: names of other tools are no misspellings of ours.
static Meaning meaningOf(llvm::StringRef Word, llvm::StringRef Section,
                         llvm::ArrayRef<llvm::StringRef> Names) {
  using Kind = Meaning::Kind;
  if (const AnyKey *Row = findForeign(Word, Section))
    return {Kind::Alias, Row->Name};
  if (const ForeignName *Row = findForeignName("otherwise", Word))
    return {Kind::Otherwise, Row->Text};
  // A seed of training is none of requests.
  const Mapping::FateOfKey Fate = fateInJobs(Word);
  const bool IsWithoutEffect = Fate.Is == Mapping::Fate::NoEffect;
  if (IsWithoutEffect && !Fate.IsOfPattern)
    return {Kind::NoEffect};
  if (const AnyKey *Row = findElsewhere(Word, Section))
    return {Kind::Elsewhere, Row->Name, Row->Section};
  if (Fate.Is == Mapping::Fate::NotModelled)
    return {Kind::NotModelled, Fate.Consequence};
  if (const llvm::StringRef Near = nearestWord(Word, Names); !Near.empty())
    return {Kind::Slip, Near};
  return {IsWithoutEffect ? Kind::NoEffect : Kind::Unknown};
}

bool foretrace::hasOrMeant(const Body &B, llvm::StringRef Key,
                           llvm::StringRef Section,
                           llvm::ArrayRef<llvm::StringRef> Names) {
  return llvm::any_of(B.Fields, [&](const Field &F) {
    llvm::StringRef Word = F.Key.Text;
    if (Word == Key || llvm::is_contained(Names, Word))
      return Word == Key;
    const Meaning M = meaningOf(Word, Section, Names);
    return (M.Is == Meaning::Kind::Alias || M.Is == Meaning::Kind::Slip) &&
           M.Text == Key;
  });
}

void foretrace::reportUnknownKey(const ast::Word &K, SourceRange All,
                                 llvm::StringRef Section,
                                 llvm::ArrayRef<llvm::StringRef> Names,
                                 DiagnosticEngine &Diags) {
  const Meaning M = meaningOf(K.Text, Section, Names);
  if (M.Is == Meaning::Kind::NotModelled) {
    reportUnmodelled(K, Diags);
    return;
  }
  if (M.Is == Meaning::Kind::NoEffect) {
    Diags.report(K.Range, diag::NoEffectHere, K.Text).fix(All, "");
    return;
  }
  DiagnosticBuilder B =
      Diags.report(K.Range, diag::UnknownKey, K.Text, Section);
  if (B.isDropped())
    return;
  if (M.Is == Meaning::Kind::Alias)
    B.note(K.Range, diag::AliasOfKey, K.Text, M.Text).fix(K.Range, M.Text);
  else if (M.Is == Meaning::Kind::Otherwise)
    B.note(K.Range, diag::SaidOtherwise, M.Text);
  else if (M.Is == Meaning::Kind::Elsewhere)
    B.note(K.Range, diag::KeyOfSection, M.Text, M.Section);
  else if (M.Is == Meaning::Kind::Slip)
    suggest(B, K.Range, K.Text, Names);
  else if (!Names.empty())
    B.note(K.Range, diag::KeysOfSection, Section, llvm::join(Names, ", "));
}
