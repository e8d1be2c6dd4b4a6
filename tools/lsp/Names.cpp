// SPDX-License-Identifier: Apache-2.0
#include "tools/lsp/Names.h"
#include "frontend/FindImport.h"
#include "lang/Library.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::lsp {

namespace {

/// Collects the names of a file.
class Collector {
public:
  Collector(const ast::File &File, NameTable &To) : File(File), To(To) {}

  void run();

private:
  using Locals = std::map<std::string, size_t>;

  size_t define(const ast::Word &Name, NameKind Is);
  void use(const ast::Word &Name);
  void defineItem(const ast::Item &I);
  void section(const ast::Section &S);
  void entries(ArrayRef<ast::Entry> All);
  void entry(const ast::Entry &E);
  void expr(const ast::Expr *E);
  void expr(const ast::ExprPtr &E) { expr(E.get()); }
  void axis(const ast::Axis &A);
  void text(const ast::Expr &E);

  const ast::File &File;
  NameTable &To;
  std::string Model;          ///< in which it is
  std::vector<Locals> Scopes; ///< of sections, with their lets
};

} // namespace

size_t Collector::define(const ast::Word &Name, NameKind Is) {
  To.Places.push_back({Name.Text, Name.Range.Begin, Name.Range.End, Is,
                       /*IsDefinition=*/true, Model, std::nullopt});
  return To.Places.size() - 1;
}

void Collector::use(const ast::Word &Name) {
  if (Name.Text.empty())
    return;
  std::optional<size_t> Local;
  for (const Locals &Of : reverse(Scopes))
    if (const auto Found = Of.find(Name.Text); Found != Of.end()) {
      Local = Found->second;
      break;
    }
  To.Places.push_back({Name.Text, Name.Range.Begin, Name.Range.End,
                       NameKind::Let, /*IsDefinition=*/false, Model, Local});
}

/// Collects names in braces; `{{` is a brace.
void Collector::text(const ast::Expr &E) {
  const StringRef Text = To.Text.slice(E.Range.Begin, E.Range.End);
  for (size_t I = Text.find('{'); I < Text.size(); I = Text.find('{', I)) {
    if (Text.substr(I).starts_with("{{")) {
      I += 2;
      continue;
    }
    const StringRef Name = Text.substr(++I).take_while(
        [](char C) { return isAlnum(C) || C == '_'; });
    const auto Begin = static_cast<uint32_t>(E.Range.Begin + I);
    use({Name.str(),
         {E.Range.File, Begin, static_cast<uint32_t>(Begin + Name.size())}});
  }
}

void Collector::expr(const ast::Expr *E) {
  if (!E)
    return;
  if (const auto *N = std::get_if<ast::Name>(&E->Node))
    use(N->Path.front());
  else if (std::holds_alternative<ast::String>(E->Node))
    text(*E);
  for (const ast::Expr *Of : ast::operandsOf(*E))
    expr(Of);
}

void Collector::axis(const ast::Axis &A) {
  for (const ast::Name &Key : A.Keys)
    if (Key.Path.size() == 1)
      use(Key.Path.front());
  for (const ast::Axis::Element &E : A.Elements) {
    expr(E.First);
    expr(E.Last);
  }
}

void Collector::entry(const ast::Entry &E) {
  if (const auto *A = std::get_if<ast::Assignment>(&E.Node)) {
    expr(A->Value);
  } else if (const auto *S = std::get_if<ast::Section>(&E.Node)) {
    section(*S);
  } else if (const auto *L = std::get_if<ast::Let>(&E.Node)) {
    expr(L->Value);
  } else if (const auto *R = std::get_if<ast::Require>(&E.Node)) {
    expr(R->Condition);
    expr(R->Message);
  } else if (const auto *I = std::get_if<ast::If>(&E.Node)) {
    expr(I->Condition);
    entries(I->Then);
    entries(I->Else);
  } else if (const auto *X = std::get_if<ast::Axis>(&E.Node)) {
    axis(*X);
  } else if (const auto *C = std::get_if<ast::Clause>(&E.Node)) {
    expr(C->Of);
  }
}

/// Collects the entries of a section. Its lets can be used before their
/// definition.
void Collector::entries(ArrayRef<ast::Entry> All) {
  Locals &Of = Scopes.emplace_back();
  for (const ast::Entry &E : All)
    if (const auto *L = std::get_if<ast::Let>(&E.Node))
      Of.try_emplace(L->Name.Text, define(L->Name, NameKind::Let));
    else if (const auto *S = std::get_if<ast::Section>(&E.Node);
             S && S->Keyword.Text == "block" && !S->Label.Text.empty())
      To.Blocks.try_emplace({Model, S->Label.Text},
                            define(S->Label, NameKind::Block));
  for (const ast::Entry &E : All)
    entry(E);
  Scopes.pop_back();
}

void Collector::section(const ast::Section &S) {
  const StringRef Keyword = S.Keyword.Text;
  use(S.Base);
  if (Keyword == "attention" || Keyword == "ffn" || Keyword == "branch")
    use(S.Label); // a layer of the job
  entries(S.Entries);
}

void Collector::defineItem(const ast::Item &I) {
  auto Add = [&](const ast::Word &Name, NameKind Is) {
    if (!Name.Text.empty())
      To.Own.try_emplace(Name.Text, define(Name, Is));
  };
  if (const auto *Im = std::get_if<ast::Import>(&I.Node)) {
    Add(Im->Alias, NameKind::Table);
    if (Im->Alias.Text.empty())
      To.Imports.push_back(Im->Path.Text);
  } else if (const auto *P = std::get_if<ast::Param>(&I.Node)) {
    Add(P->Name, NameKind::Param);
  } else if (const auto *L = std::get_if<ast::Let>(&I.Node)) {
    Add(L->Name, NameKind::Let);
  } else if (const auto *S = std::get_if<ast::Section>(&I.Node)) {
    if (S->Keyword.Text == "model") {
      Add(S->Label, NameKind::Model);
      To.Bases[S->Label.Text] = S->Base.Text;
    }
  } else if (const auto *Of = std::get_if<ast::Layer>(&I.Node)) {
    Add({Of->Is.Name.str(), Of->Is.Range}, NameKind::Layer);
  }
}

void Collector::run() {
  for (const ast::Item &I : File.Items)
    defineItem(I);
  for (const ast::Item &I : File.Items) {
    if (const auto *P = std::get_if<ast::Param>(&I.Node)) {
      for (const ast::ExprPtr &Each : P->Domain)
        expr(Each);
      expr(P->Default);
    } else if (const auto *L = std::get_if<ast::Let>(&I.Node)) {
      expr(L->Value);
    } else if (const auto *R = std::get_if<ast::Require>(&I.Node)) {
      expr(R->Condition);
      expr(R->Message);
    } else if (const auto *S = std::get_if<ast::Section>(&I.Node)) {
      if (S->Keyword.Text == "model")
        Model = S->Label.Text;
      section(*S);
      Model.clear();
    }
  }
}

std::string importedFile(StringRef Path, StringRef Importer,
                         const std::vector<std::string> &ImportPaths,
                         Compiler &Session) {
  std::string Found =
      findImport(Path, importFolders(Path, Importer, ImportPaths),
                 Session.sources().system())
          .Path;
  return StringRef(Found).starts_with(LibraryFolder) ? "" : Found;
}

void Names::add(StringRef Path) { add(Path, Session.importPaths(Path)); }

void Names::add(StringRef Path, const std::vector<std::string> &ImportPaths) {
  constexpr size_t MostFiles = 256;
  if (Files.size() >= MostFiles || Files.count(Path.str()))
    return;
  const ErrorOr<FileId> Id = Session.sources().open(Path);
  if (!Id)
    return;
  NameTable &Of = Files[Path.str()];
  Of.Text = Session.sources().text(*Id).str();
  const ast::File *File = Session.parse(*Id);
  if (!File)
    return;
  Collector(*File, Of).run();
  for (std::string &Import : Of.Imports) {
    SmallString<128> To(importedFile(Import, Path, ImportPaths, Session));
    sys::path::remove_dots(To, /*remove_dot_dot=*/true);
    Import = To.str().str();
    if (!Import.empty())
      add(Import, ImportPaths);
  }
}

const NamePlace *Names::at(StringRef Path, size_t Byte) const {
  const auto File = Files.find(Path.str());
  if (File == Files.end())
    return nullptr;
  const auto Found = find_if(File->second.Places, [&](const NamePlace &P) {
    return P.Begin <= Byte && Byte <= P.End;
  });
  return Found == File->second.Places.end() ? nullptr : &*Found;
}

std::optional<Names::Definition>
Names::findGlobal(const std::string &Path, const std::string &Name) const {
  SetVector<StringRef> Seen; // imports may go round
  Seen.insert(Path);
  for (size_t I = 0; I < Seen.size(); ++I) {
    const auto File = Files.find(Seen[I].str());
    if (File == Files.end())
      continue;
    const NameTable &Of = File->second;
    if (const auto Own = Of.Own.find(Name); Own != Of.Own.end())
      return Definition(File->first, Own->second);
    for (const std::string &Import : Of.Imports)
      Seen.insert(Import);
  }
  return std::nullopt;
}

std::optional<Names::Definition> Names::findBlock(const std::string &Path,
                                                  const std::string &Model,
                                                  const std::string &Name,
                                                  unsigned Depth) const {
  constexpr unsigned MostDeep = 64; // models may inherit from themselves
  const std::optional<Definition> Of = findGlobal(Path, Model);
  if (!Of || Depth > MostDeep)
    return std::nullopt;
  const NameTable &File = Files.at(Of->first);
  if (const auto Own = File.Blocks.find({Model, Name});
      Own != File.Blocks.end())
    return Definition(Of->first, Own->second);
  const auto Base = File.Bases.find(Model);
  return Base == File.Bases.end() || Base->second.empty()
             ? std::nullopt
             : findBlock(Of->first, Base->second, Name, Depth + 1);
}

std::optional<Names::Definition>
Names::definitionOf(StringRef Path, const NamePlace &Place) const {
  const auto File = Files.find(Path.str());
  if (Place.IsDefinition)
    return Definition(Path.str(),
                      static_cast<size_t>(&Place - File->second.Places.data()));
  if (Place.Local)
    return Definition(Path.str(), *Place.Local);
  if (!Place.Model.empty())
    if (std::optional<Definition> Block =
            findBlock(Path.str(), Place.Model, Place.Name))
      return Block;
  return findGlobal(Path.str(), Place.Name);
}

} // namespace foretrace::lsp
