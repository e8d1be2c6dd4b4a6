// SPDX-License-Identifier: Apache-2.0
//
// Definitions and uses of names, and other names for them.
#include "frontend/Parse.h"
#include "tools/lsp/Lexer.h"
#include "tools/lsp/Positions.h"
#include "tools/lsp/Server.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::lsp {

Names Server::namesOf(const Document &D) const {
  Names All(*Session);
  All.add(pathOf(D.Uri));
  return All;
}

/// Searches open texts and the files of the same folder.
Names Server::namesAround(const Document &D) const {
  Names All = namesOf(D);
  for (const auto &[Path, Of] : Documents)
    All.add(Path);
  std::error_code Error;
  const std::string Path = pathOf(D.Uri);
  for (sys::fs::directory_iterator I(sys::path::parent_path(Path), Error), End;
       !Error && I != End; I.increment(Error))
    if (sys::path::extension(I->path()) == ".fore")
      All.add(I->path());
  return All;
}

static json::Object locationOf(const Names &All, StringRef Uri, StringRef Path,
                               const NamePlace &Place) {
  return json::Object{{"uri", Uri.str()},
                      {"range", rangeOf(All.files().at(Path.str()).Text,
                                        Place.Begin, Place.End)}};
}

/// Returns the definition of the name at a byte.
static std::optional<Names::Definition>
definitionAt(const Names &All, StringRef Path, size_t Byte) {
  const NamePlace *Place = All.at(Path, Byte);
  return Place ? All.definitionOf(Path, *Place) : std::nullopt;
}

/// Calls \p Use with each place that means \p D, file by file.
static void
forEachUse(const Names &All, const Names::Definition &D,
           function_ref<void(StringRef Path, const NamePlace &)> Use) {
  const std::string &Name = All.placeOf(D).Name;
  for (const auto &[Path, File] : All.files())
    for (const NamePlace &Place : File.Places)
      if (Place.Name == Name && All.definitionOf(Path, Place) == D)
        Use(Path, Place);
}

/// Returns the definition of a name, or the file that an import names.
json::Value Server::define(const Document &D, const Object &Params) {
  const std::string Path = pathOf(D.Uri);
  const size_t Byte = byteOf(D.Text, Params);
  const Names All = namesOf(D);
  if (const auto Found = definitionAt(All, Path, Byte))
    return locationOf(All, uriOfFile(Found->first), Found->first,
                      All.placeOf(*Found));
  std::vector<LooseToken> Tokens = tokensOf(D.Text);
  const auto At = find_if(Tokens, [&](const LooseToken &T) {
    return T.Is == LooseToken::Kind::String && T.Begin <= Byte && Byte <= T.End;
  });
  if (At == Tokens.end() || At == Tokens.begin() ||
      std::prev(At)->in(D.Text) != "import")
    return nullptr;
  const std::string To = importedFile(At->in(D.Text).trim('"'), Path,
                                      Session->importPaths(Path), *Session);
  if (To.empty())
    return nullptr;
  return Object{{"uri", uriOfFile(To)}, {"range", rangeOf("", 0, 0)}};
}

json::Value Server::references(const Document &D, const Object &Params) {
  const Names All = namesAround(D);
  const auto Of = definitionAt(All, pathOf(D.Uri), byteOf(D.Text, Params));
  if (!Of)
    return nullptr;
  const Object *Context = Params.getObject("context");
  const bool WithDefinition =
      !Context || Context->getBoolean("includeDeclaration").value_or(true);
  json::Array Found;
  forEachUse(All, *Of, [&](StringRef Path, const NamePlace &Place) {
    if (WithDefinition || !Place.IsDefinition)
      Found.push_back(locationOf(All, uriOfFile(Path), Path, Place));
  });
  return Found;
}

json::Value Server::mayRename(const Document &D, const Object &Params) {
  const std::string Path = pathOf(D.Uri);
  const size_t Byte = byteOf(D.Text, Params);
  const Names All = namesOf(D);
  if (!definitionAt(All, Path, Byte))
    return nullptr;
  const NamePlace &Place = *All.at(Path, Byte);
  return Object{{"range", rangeOf(D.Text, Place.Begin, Place.End)},
                {"placeholder", Place.Name}};
}

static bool canBeName(StringRef Word) {
  return !Word.empty() && !isDigit(Word.front()) && !isReserved(Word) &&
         all_of(Word, [](char C) { return isAlnum(C) || C == '_'; });
}

/// A new name is refused if a file that it is written to has that word already:
/// one of the two would hide the other.
Expected<json::Value> Server::rename(const Document &D, const Object &Params) {
  const std::string New = Params.getString("newName").value_or("").str();
  if (!canBeName(New))
    return make_error<RequestError>(RequestError::InvalidParams,
                                    "`" + New + "` cannot be a name");
  const Names All = namesAround(D);
  const auto Of = definitionAt(All, pathOf(D.Uri), byteOf(D.Text, Params));
  if (!Of)
    return make_error<RequestError>(
        RequestError::RequestFailed,
        "there is no name here that this job or its imports define");
  std::map<std::string, json::Array> Edits; // by path
  forEachUse(All, *Of, [&](StringRef Path, const NamePlace &Place) {
    const StringRef Text = All.files().at(Path.str()).Text;
    Edits[Path.str()].push_back(Object{
        {"range", rangeOf(Text, Place.Begin, Place.End)}, {"newText", New}});
  });
  Object Changes;
  for (auto &[Path, Of] : Edits) {
    if (any_of(All.files().at(Path).Places,
               [&](const NamePlace &P) { return P.Name == New; }))
      return make_error<RequestError>(RequestError::RequestFailed,
                                      "`" + New + "` is used in " +
                                          sys::path::filename(Path).str());
    Changes[uriOfFile(Path)] = std::move(Of);
  }
  return Object{{"changes", std::move(Changes)}};
}

} // namespace foretrace::lsp
