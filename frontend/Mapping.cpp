// SPDX-License-Identifier: Apache-2.0
#include "frontend/Mapping.h"
#include "frontend/Parse.h"
#include "lang/Library.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace foretrace {

StringRef textOf(const ast::Expr &E) {
  const auto *Text = std::get_if<ast::String>(&E.Node);
  return Text ? StringRef(Text->Value) : StringRef();
}

std::pair<StringRef, StringRef> namesAndText(const ast::Assignment &A) {
  const auto *L = std::get_if<ast::List>(&A.Value->Node);
  if (!L || L->Elements.size() != 2)
    return {A.Key.Text, textOf(*A.Value)};
  return {textOf(*L->Elements.front()), textOf(*L->Elements.back())};
}

StringRef textOfKey(const ast::Section &Class, StringRef Key) {
  for (const ast::Entry &E : Class.Entries)
    if (const auto *A = std::get_if<ast::Assignment>(&E.Node);
        A && A->Key.Text == Key)
      return textOf(*A->Value);
  return "";
}

const ast::Section *sectionOf(const ast::Entry &E) {
  return std::get_if<ast::Section>(&E.Node);
}

const ast::File *Pages::page(StringRef Path, StringRef Text) {
  auto [At, IsNew] = Parsed.try_emplace(Path);
  if (IsNew) {
    const FileId File =
        Sources.add(Text, (Twine(LibraryFolder) + "/" + Path).str());
    At->second = parseFore(Sources.text(File), Diags);
  }
  return At->second ? &*At->second : nullptr;
}

/// The class of a page with \p Text in it for which \p IsIt.
const ast::Section *
Pages::findIn(StringRef Text, function_ref<bool(const ast::Section &)> IsIt) {
  for (const LibraryFile &Page : libraryFiles()) {
    if (!Page.Path.starts_with(Folder) || !Page.Text.contains(Text))
      continue;
    const ast::File *File = page(Page.Path, Page.Text);
    if (!File)
      continue;
    for (const ast::Item &I : File->Items)
      if (const auto *S = std::get_if<ast::Section>(&I.Node); S && IsIt(*S))
        return S;
  }
  return nullptr;
}

const ast::Section *Pages::findClass(StringRef Name) {
  return findIn(("class " + Name + " ").str(),
                [&](const ast::Section &S) { return S.Label.Text == Name; });
}

/// Calls \p Each with the words of the list \p List of \p Class.
static bool anyWord(const ast::Section &Class, StringRef List,
                    function_ref<bool(StringRef)> IsIt) {
  for (const ast::Entry &E : Class.Entries)
    if (const auto *A = std::get_if<ast::Assignment>(&E.Node);
        A && A->Key.Text == List)
      for (const ast::ExprPtr &W : std::get<ast::List>(A->Value->Node).Elements)
        if (IsIt(textOf(*W)))
          return true;
  return false;
}

const ast::Section *Pages::findBy(StringRef List, StringRef Word) {
  return findIn(("\"" + Word + "\"").str(), [&](const ast::Section &S) {
    return anyWord(S, List, [&](StringRef W) { return W == Word; });
  });
}

std::vector<const ast::Section *> Pages::classes() {
  std::vector<const ast::Section *> All;
  findIn("", [&](const ast::Section &S) {
    All.push_back(&S);
    return false;
  });
  return All;
}

std::vector<std::string> Pages::wordsOf(StringRef List) {
  std::vector<std::string> All;
  for (const ast::Section *Class : classes())
    anyWord(*Class, List, [&](StringRef W) {
      All.push_back(W.str());
      return false;
    });
  return All;
}

Mapping::Mapping(Pages &From, const ast::Section &Class) { add(From, Class); }

void Mapping::add(Pages &From, const ast::Section &Class) {
  std::vector<const ast::Section *> Chain;
  for (const ast::Section *At = &Class; At;
       At = At->Base.Text.empty() ? nullptr : From.findClass(At->Base.Text))
    Chain.push_back(At);
  for (const ast::Section *At : llvm::reverse(Chain))
    for (const ast::Entry &E : At->Entries)
      collect(E);
}

void Mapping::collect(const ast::Entry &E) {
  if (const auto *L = std::get_if<ast::Let>(&E.Node)) {
    Lets[L->Name.Text] = L->Value.get();
    read(*L->Value);
    return;
  }
  const ast::Section *S = sectionOf(E);
  if (S && StringSwitch<bool>(S->Keyword.Text)
               .Cases("names", "defaults", "omitted", "not_modelled",
                      "no_effect", "read", "alike", true)
               .Default(false)) {
    collectKeys(*S);
    return;
  }
  Entries.push_back(&E);
  readEntries(ArrayRef(E));
}

/// Takes the words that a list has for \p Key.
void Mapping::collectWords(StringRef List, StringRef Key, StringRef Text) {
  SmallVector<StringRef, 16> Words;
  SplitString(Text, Words);
  for (StringRef W : Words) {
    if (List != "no_effect")
      Used.insert(W);
    else if (W.consume_back("*"))
      IgnoredStarts.push_back(W);
    else if (Ignored.insert(W).second)
      Lost.erase(W); // of a base
    if (List == "names")
      Names[Key].push_back(W.str());
  }
}

void Mapping::collectKeys(const ast::Section &S) {
  for (const ast::Entry &E : S.Entries) {
    const auto &A = std::get<ast::Assignment>(E.Node);
    const StringRef Key = A.Key.Text;
    if (S.Keyword.Text == "defaults") {
      Defaults[Key] = A.Value.get();
      Used.insert(Key);
      read(*A.Value);
    } else if (S.Keyword.Text == "omitted") {
      Omitted[Key] = A.Value.get();
    } else if (S.Keyword.Text == "alike") {
      SplitString(textOf(*A.Value), Alike[Key]);
    } else if (S.Keyword.Text == "not_modelled") {
      const auto [Keys, Consequence] = namesAndText(A);
      SmallVector<StringRef, 8> Words;
      SplitString(Keys, Words);
      for (StringRef W : Words)
        Lost[W] = Consequence;
    } else {
      collectWords(S.Keyword.Text, Key, textOf(*A.Value));
    }
  }
}

void Mapping::readEntries(ArrayRef<ast::Entry> All) {
  for (const ast::Entry &E : All) {
    if (const auto *A = std::get_if<ast::Assignment>(&E.Node)) {
      read(*A->Value);
    } else if (const auto *R = std::get_if<ast::Require>(&E.Node)) {
      read(*R->Condition);
    } else if (const auto *I = std::get_if<ast::If>(&E.Node)) {
      read(*I->Condition);
      readEntries(I->Then);
      readEntries(I->Else);
    } else if (const ast::Section *S = sectionOf(E)) {
      readEntries(S->Entries);
    }
  }
}

/// Notes the keys that a formula reads.
void Mapping::read(const ast::Expr &E) {
  if (const auto *N = std::get_if<ast::Name>(&E.Node))
    Named.insert(N->Path.front().Text);
  for (const ast::Expr *Of : ast::operandsOf(E))
    read(*Of);
}

ArrayRef<std::string> Mapping::spellings(StringRef Key) const {
  const auto Found = Names.find(Key);
  if (Found == Names.end())
    return {};
  return Found->second;
}

StringRef Mapping::mainName(StringRef Key) const {
  for (const auto &[Main, Others] : Names)
    if (is_contained(Others, Key))
      return Main;
  return Key;
}

std::vector<StringRef> Mapping::wordsOf(StringRef Key) const {
  SmallVector<StringRef, 32> Words;
  for (const ast::Entry *E : Entries)
    if (const auto *A = std::get_if<ast::Assignment>(&E->Node);
        A && A->Key.Text == Key)
      SplitString(textOf(*A->Value), Words);
  return {Words.begin(), Words.end()};
}

bool Mapping::isUsed(StringRef Key) const {
  return Used.contains(Key) || (Named.contains(Key) && !Lets.contains(Key));
}

Mapping::FateOfKey Mapping::fateOf(StringRef Key) const {
  if (isUsed(Key))
    return {Fate::Used};
  if (Lost.contains(Key))
    return {Fate::NotModelled, Lost.lookup(Key)};
  if (Ignored.contains(Key))
    return {Fate::NoEffect};
  const auto IsStart = [&](StringRef S) { return Key.starts_with(S); };
  if (any_of(IgnoredStarts, IsStart))
    return {Fate::NoEffect, {}, true};
  return {Fate::Unknown};
}

std::vector<StringRef> Mapping::usedKeys() const {
  std::vector<StringRef> All;
  for (const StringSet<> *Keys : {&Used, &Named})
    for (const auto &Key : *Keys)
      if (isUsed(Key.getKey()))
        All.push_back(Key.getKey());
  llvm::sort(All);
  All.erase(std::unique(All.begin(), All.end()), All.end());
  return All;
}

} // namespace foretrace
