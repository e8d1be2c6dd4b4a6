// SPDX-License-Identifier: Apache-2.0
//
// Finds the files of a job.
#include "frontend/Import.h"
#include "lang/DidYouMean.h"
#include "lang/Library.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace foretrace;
namespace vfs = llvm::vfs;
namespace path = llvm::sys::path;

/// Returns the canonical path of a file; \p Path if there is no such file.
std::string ImportGraph::realPath(llvm::StringRef Path) const {
  llvm::SmallString<128> Real;
  if (Sources.system().getRealPath(Path, Real))
    return Path.str();
  return std::string(Real);
}

/// Returns the likely last part of \p Missing: the name of a file of its kind
/// that an import from one of \p Folders finds. Empty if none is near.
std::string
ImportGraph::findNearest(llvm::StringRef Missing,
                         llvm::ArrayRef<std::string> Folders) const {
  std::vector<std::string> Stems;
  for (llvm::StringRef Folder : Folders) {
    llvm::SmallString<128> Beside(Folder);
    path::append(Beside, path::parent_path(Missing));
    std::error_code EC;
    for (vfs::directory_iterator It = Sources.system().dir_begin(Beside, EC),
                                 End;
         It != End && !EC; It.increment(EC))
      if (path::extension(It->path()) == path::extension(Missing) &&
          It->type() != llvm::sys::fs::file_type::directory_file)
        Stems.push_back(path::stem(It->path()).str());
  }
  if (path::parent_path(Missing) == "models")
    for (const LibraryModel &M : libraryModels())
      Stems.push_back(M.Title.str());
  llvm::sort(Stems); // a folder has no order
  std::vector<llvm::StringRef> Words(Stems.begin(), Stems.end());
  llvm::StringRef Nearest = nearestWord(path::stem(Missing), Words);
  if (Nearest.empty())
    return "";
  llvm::SmallString<128> Path(path::parent_path(Missing));
  path::append(Path, Nearest + path::extension(Missing));
  return std::string(Path);
}

std::vector<std::string>
foretrace::importFolders(llvm::StringRef Path, llvm::StringRef Importer,
                         const std::vector<std::string> &ImportPaths) {
  if (path::is_absolute(Path))
    return {"."};
  std::vector<std::string> Folders = {path::parent_path(Importer).str()};
  if (Folders.front().empty())
    Folders.front() = ".";
  llvm::append_range(Folders, ImportPaths);
  return Folders;
}

FoundImport foretrace::findImport(llvm::StringRef Path,
                                  const std::vector<std::string> &Folders,
                                  vfs::FileSystem &System) {
  for (const std::string &Folder : Folders) {
    llvm::SmallString<128> Candidate(Folder == "." ? "" : Folder);
    path::append(Candidate, Path);
    const auto Status = System.status(Candidate);
    if (Status && !Status->isDirectory())
      return {std::string(Candidate)};
  }
  const LibraryModel *Model = llvm::is_contained(Folders, LibraryFolder)
                                  ? findLibraryModel(Path)
                                  : nullptr;
  if (!Model)
    return {};
  return {(llvm::Twine(LibraryFolder) + "/" + Model->Page).str(), Model};
}

/// Returns the file that \p I means; reports if there is none.
FoundImport ImportGraph::locate(const ast::Import &I,
                                llvm::StringRef Importer) {
  const std::vector<std::string> Folders =
      importFolders(I.Path.Text, Importer, ImportPaths);
  FoundImport Found = findImport(I.Path.Text, Folders, Sources.system());
  if (!Found.Path.empty())
    return Found;
  DiagnosticBuilder B =
      Diags.report(I.Path.Range, diag::ImportNotFound, I.Path.Text,
                   "`" + llvm::join(Folders, "`, `") + "`");
  std::string Nearest = findNearest(I.Path.Text, Folders);
  if (!Nearest.empty())
    B.note(I.Path.Range, diag::DidYouMean, Nearest)
        .fix(I.Path.Range, "\"" + Nearest + "\"");
  return Found;
}

std::optional<FileId> ImportGraph::open(llvm::StringRef Path,
                                        SourceRange Range) {
  const llvm::ErrorOr<FileId> File = Sources.open(Path);
  if (File)
    return *File;
  Diags.report(Range, diag::FileUnreadable, Path, File.getError().message());
  return std::nullopt;
}

std::optional<SourceText> ImportGraph::read(llvm::StringRef Path,
                                            SourceRange Use) {
  llvm::SmallString<128> Full(
      path::is_absolute(Path) ? "" : path::parent_path(Sources.name(Use.File)));
  path::append(Full, Path);
  if (std::optional<FileId> File = open(Full, Use))
    return Sources.text(*File);
  return std::nullopt;
}

bool ImportGraph::reportCycle(llvm::StringRef Real, llvm::StringRef Path,
                              SourceRange Range) {
  auto *First = llvm::find_if(llvm::MutableArrayRef<Loading>(Stack),
                              [&](const Loading &L) { return L.Path == Real; });
  if (First == Stack.data() + Stack.size())
    return false;
  DiagnosticBuilder B = Diags.report(Range, diag::ImportCycle, Path);
  for (const Loading &L : llvm::drop_begin(
           llvm::ArrayRef<Loading>(First, Stack.data() + Stack.size())))
    B.note(L.Import, diag::ImportedHere, path::filename(L.Path));
  return true;
}

JobFile *ImportGraph::loadFore(llvm::StringRef Path, SourceRange Range,
                               const LibraryModel *Model) {
  std::string Real = realPath(Path);
  if (Model)
    Real += ("#" + Model->Name).str();
  if (reportCycle(Real, Path, Range))
    return nullptr;
  if (auto Known = Loaded.find(Real); Known != Loaded.end())
    return Known->second.Fore;
  constexpr size_t MaxDepth = 100;
  if (Stack.size() > MaxDepth) {
    Diags.report(Range, diag::ImportDepth, Path, MaxDepth);
    return nullptr;
  }
  const std::optional<FileId> Id = open(Path, Range);
  const ast::File *File = !Id     ? nullptr
                          : Model ? Files.fore(*Id, Model->Name, Diags)
                                  : Files.fore(*Id, Diags);
  JobFile *U = nullptr;
  if (File) {
    Stack.push_back({Real, Range});
    U = add(*File, Path);
    Stack.pop_back();
  }
  Loaded[Real].Fore = U;
  return U;
}

/// Takes a file with everything that it imports.
JobFile *ImportGraph::add(const ast::File &File, llvm::StringRef Path) {
  JobFile &U = Units.emplace_back();
  U.File = &File;
  declare(U, Path);
  Order.push_back(&U);
  return &U;
}

const ast::Section *ImportGraph::loadToml(llvm::StringRef Path,
                                          SourceRange Range) {
  std::string Real = realPath(Path);
  if (auto Known = Loaded.find(Real); Known != Loaded.end())
    return Known->second.Toml;
  const std::optional<FileId> Id = open(Path, Range);
  const ast::Section *Table = Id ? Files.toml(*Id, Diags) : nullptr;
  Loaded[Real].Toml = Table;
  return Table;
}

/// Imports the model of another tool's file under the name that the job gives
/// it.
void ImportGraph::importForeign(JobFile &U, const ast::Import &I,
                                llvm::StringRef Importer) {
  const std::string Path = locate(I, Importer).Path;
  const std::optional<FileId> Id =
      Path.empty() ? std::nullopt : open(Path, I.Path.Range);
  const ast::File *File =
      Id ? Files.foreign(*Id, I.Alias.Text, Diags) : nullptr;
  if (!File)
    return;
  JobFile *Imported = add(*File, Path);
  U.Imports.push_back({Imported, ""});
  U.Names.import(Imported->Names);
}

/// Returns the name of the file as a name of the language.
static std::string aliasFor(llvm::StringRef Path) {
  std::string Alias = path::stem(Path).str();
  for (char &C : Alias)
    if (!llvm::isAlnum(C))
      C = '_';
  return Alias;
}

void ImportGraph::import(JobFile &U, const ast::Import &I,
                         llvm::StringRef Importer) {
  const bool IsForeign = path::extension(I.Path.Text) == ".json";
  bool IsToml = path::extension(I.Path.Text) == ".toml" || IsForeign;
  if (IsToml && I.Alias.Text.empty())
    Diags.report(I.Path.Range, diag::ImportNeedsAlias, I.Path.Text,
                 aliasFor(I.Path.Text));
  if (!IsToml && !I.Alias.Text.empty())
    Diags.report(I.Alias.Range, diag::ImportTakesNoAlias);
  if (IsForeign) {
    if (!I.Alias.Text.empty())
      importForeign(U, I, Importer);
    return;
  }
  const auto [Path, M] = locate(I, Importer);
  if (!IsToml) {
    if (JobFile *Imported =
            Path.empty() ? nullptr : loadFore(Path, I.Path.Range, M)) {
      U.Imports.push_back({Imported, M ? M->Name : ""});
      U.Names.import(Imported->Names);
    }
    return;
  }
  const ast::Section *Table =
      Path.empty() ? nullptr : loadToml(Path, I.Path.Range);
  Symbol Alias;
  Alias.Name = I.Alias;
  if (I.Alias.Text.empty()) // reported, and used as if it were there
    Alias.Name = {aliasFor(I.Path.Text), I.Path.Range};
  Alias.Is = Symbol::State::Known;
  if (Table)
    Alias.Result =
        ExprValue{TableValue{Table}, Dimension::Count, Alias.Name.Range};
  U.Names.add(std::move(Alias), Diags);
}

void ImportGraph::declare(JobFile &U, llvm::StringRef Path) {
  for (const ast::Item &I : U.File->Items) {
    if (const auto *Import = std::get_if<ast::Import>(&I.Node)) {
      import(U, *Import, Path);
      continue;
    }
    Symbol S;
    if (const auto *Param = std::get_if<ast::Param>(&I.Node)) {
      S.Name = Param->Name;
      S.Param = Param;
      S.Definition = Param->Default.get();
    } else if (const auto *Let = std::get_if<ast::Let>(&I.Node)) {
      S.Name = Let->Name;
      S.Definition = Let->Value.get();
    } else {
      continue;
    }
    U.Names.add(std::move(S), Diags);
  }
}

const ast::Section *ImportGraph::loadCluster(const ast::Word &Name) {
  ast::Word Path = Name;
  if (path::extension(Name.Text) != ".toml") {
    Path.Text = "clusters/" + Name.Text + ".toml";
    const std::vector<std::string> Folders =
        importFolders(Path.Text, /*Importer=*/"", ImportPaths);
    if (findImport(Path.Text, Folders, Sources.system()).Path.empty()) {
      const std::string Nearest = findNearest(Path.Text, Folders);
      suggest(Diags.report(Name.Range, diag::UnknownCluster, Name.Text),
              Name.Range, Name.Text, path::stem(Nearest));
      return nullptr;
    }
  }
  const std::string Found = locate({Path, {}}, /*Importer=*/"").Path;
  return Found.empty() ? nullptr : loadToml(Found, Name.Range);
}

JobFile *ImportGraph::load(llvm::StringRef MainPath) {
  return loadFore(MainPath, SourceRange(), nullptr);
}

JobFile *ImportGraph::load(FileId Id) {
  const ast::File *File = Files.fore(Id, Diags);
  return File ? add(*File, "") : nullptr;
}
