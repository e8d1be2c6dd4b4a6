// SPDX-License-Identifier: Apache-2.0
#include "frontend/ParsedFiles.h"
#include "frontend/Parse.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <set>

using namespace foretrace;

/// Returns the result of \p Parse for \p File, which \p Known caches.
template <typename NodeT, typename ParseT>
static const NodeT *
parseOnce(std::map<FileId, std::unique_ptr<const NodeT>> &Known, FileId File,
          ParseT Parse, const SourceFiles &Sources, DiagnosticEngine &Diags) {
  std::unique_ptr<const NodeT> &Node = Known[File];
  if (!Node)
    if (std::optional<NodeT> Parsed = Parse(Sources.text(File), Diags))
      Node = std::make_unique<const NodeT>(std::move(*Parsed));
  return Node.get();
}

namespace {

/// A model of a page, from its keyword to its closing brace.
struct ModelText {
  llvm::StringRef Name, Base;
  size_t Begin, End;
};

} // namespace

/// Returns the models of a page of the library, each of which begins with a
/// line of its own and ends with one.
static std::vector<ModelText> modelsOf(llvm::StringRef Page) {
  constexpr llvm::StringLiteral Keyword = "\nmodel ", Close = "\n}";
  std::vector<ModelText> Models;
  for (size_t At = 0; (At = Page.find(Keyword, At)) != llvm::StringRef::npos;) {
    const size_t End = std::min(Page.find(Close, At), Page.size());
    auto [Name, Base] =
        Page.slice(At + Keyword.size(), Page.find('{', At)).split(':');
    const size_t LineEnd = Page.find('\n', At + 1);
    const bool IsShort = Page.slice(At, LineEnd).rtrim().ends_with("}");
    Models.push_back(
        {Name.trim(), Base.trim(), At, IsShort ? LineEnd : End + Close.size()});
    At = Models.back().End;
  }
  return Models;
}

/// Returns the page with blanks for all models but \p Name and those that it
/// inherits from, so that places in it are those of the page.
static std::string withModel(llvm::StringRef Page, llvm::StringRef Name) {
  const std::vector<ModelText> Models = modelsOf(Page);
  std::set<llvm::StringRef> Needed;
  for (bool IsFound = true; IsFound && Needed.insert(Name).second;) {
    const auto Of = llvm::find_if(
        Models, [&](const ModelText &M) { return M.Name == Name; });
    IsFound = Of != Models.end() && !Of->Base.empty();
    if (IsFound)
      Name = Of->Base;
  }
  std::string Text = Page.str();
  for (const ModelText &M : Models)
    if (!Needed.count(M.Name))
      std::replace_if(
          Text.begin() + M.Begin, Text.begin() + M.End,
          [](char C) { return C != '\n'; }, ' ');
  return Text;
}

const ast::File *ParsedFiles::fore(FileId File, DiagnosticEngine &Diags) {
  return parseOnce(Fores, File, parseFore, Sources, Diags);
}

const ast::Section *ParsedFiles::toml(FileId File, DiagnosticEngine &Diags) {
  return parseOnce(Tomls, File, parseToml, Sources, Diags);
}

const ast::File *ParsedFiles::foreign(FileId File, llvm::StringRef Name,
                                      DiagnosticEngine &Diags) {
  const std::optional<std::string> Text = ReadForeign(File, Name, Diags);
  return Text ? fore(Sources.add(*Text, (Sources.name(File) + ".fore").str()),
                     Diags)
              : nullptr;
}

const ast::File *ParsedFiles::fore(FileId File, llvm::StringRef Name,
                                   DiagnosticEngine &Diags) {
  std::unique_ptr<const ast::File> &Node = Models[{File, Name.str()}];
  if (Node)
    return Node.get();
  const std::string Text = withModel(Sources.text(File).str(), Name);
  if (std::optional<ast::File> Parsed = parseFore({File, Text}, Diags))
    Node = std::make_unique<const ast::File>(std::move(*Parsed));
  return Node.get();
}
