// SPDX-License-Identifier: Apache-2.0
#include "tools/compiler/Project.h"
#include "frontend/Parse.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Tools.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <cstdlib>

using namespace llvm;
namespace path = llvm::sys::path;

namespace foretrace {

void Project::applyTo(DiagnosticEngine &Diags) const {
  for (const WarningOption &W : Warnings)
    if (!Diags.treatsSpecially(*W.Id))
      W.applyTo(Diags);
}

/// The folder above which no project file of a job in \p Folder is searched.
static std::string topOf(StringRef Folder, const vfs::FileSystem &System) {
  const char *Home = std::getenv("HOME");
  for (StringRef Up = Folder; !Up.empty(); Up = path::parent_path(Up)) {
    SmallString<256> Git = Up;
    path::append(Git, ".git");
    if ((Home && Up == Home) ||
        const_cast<vfs::FileSystem &>(System).exists(Git))
      return Up.str();
  }
  return Folder.str();
}

/// The path of the project file, empty if there is none.
static std::string findProject(StringRef Job, const vfs::FileSystem &System) {
  SmallString<256> Folder = path::parent_path(Job);
  if (Job.starts_with("<") || System.makeAbsolute(Folder))
    return ""; // no file
  path::remove_dots(Folder, /*remove_dot_dot=*/true);
  const std::string Top = topOf(Folder, System);
  for (StringRef Up = Folder;; Up = path::parent_path(Up)) {
    SmallString<256> File = Up;
    path::append(File, ProjectFileName);
    if (const_cast<vfs::FileSystem &>(System).exists(File))
      return File.str().str();
    if (Up == Top)
      return "";
  }
}

namespace {

class ProjectReader {
public:
  ProjectReader(Project &P, DiagnosticEngine &Diags) : P(P), Diags(Diags) {}

  void read(const ast::Section &File);

private:
  void readKey(const ast::Assignment &A);
  void readWarning(const ast::Entry &E);
  void reportKey(const ast::Word &Key);

  Project &P;
  DiagnosticEngine &Diags;
};

} // namespace

static const std::string *asText(const ast::Expr &E) {
  const auto *Text = std::get_if<ast::String>(&E.Node);
  return Text ? &Text->Value : nullptr;
}

void ProjectReader::reportKey(const ast::Word &Key) {
  static constexpr StringRef Keys[] = {"imports", "cluster", "warnings"};
  suggest(Diags.report(Key.Range, diag::ProjectKey, Key.Text,
                       join(ArrayRef(Keys), ", ")),
          Key.Range, Key.Text, Keys);
}

void ProjectReader::readKey(const ast::Assignment &A) {
  if (A.Key.Text == "cluster") {
    if (const std::string *Text = asText(*A.Value))
      P.Cluster = *Text;
    else
      Diags.report(A.Value->Range, diag::ProjectValue, "cluster",
                   "the name of a cluster");
    return;
  }
  if (A.Key.Text != "imports")
    return reportKey(A.Key);
  const auto *List = std::get_if<ast::List>(&A.Value->Node);
  if (!List) {
    Diags.report(A.Value->Range, diag::ProjectValue, "imports",
                 "a list of folders");
    return;
  }
  for (const ast::ExprPtr &E : List->Elements) {
    const std::string *Text = asText(*E);
    if (!Text) {
      Diags.report(E->Range, diag::ProjectValue, "imports",
                   "a list of folders");
      continue;
    }
    SmallString<256> Folder = path::parent_path(P.Path);
    path::append(Folder, *Text); // an absolute path stays one
    P.ImportPaths.push_back(path::is_absolute(*Text) ? *Text
                                                     : Folder.str().str());
  }
}

void ProjectReader::readWarning(const ast::Entry &E) {
  const auto *A = std::get_if<ast::Assignment>(&E.Node);
  if (!A)
    return reportKey(std::get<ast::Section>(E.Node).Keyword);
  const std::string *Level = asText(*A->Value);
  if (!Level || !is_contained({"on", "off", "error"}, *Level)) {
    Diags.report(A->Value->Range, diag::ProjectValue, A->Key.Text,
                 "\"on\", \"off\" or \"error\"");
    return;
  }
  Expected<WarningOption> Read =
      parseWarningOption((*Level == "error" ? "error=" : "no-") + A->Key.Text);
  if (!Read)
    Diags.report(A->Key.Range, diag::ProjectWarning,
                 toString(Read.takeError()));
  else if (*Level != "on")
    P.Warnings.push_back(*Read);
}

void ProjectReader::read(const ast::Section &File) {
  for (const ast::Entry &E : File.Entries) {
    if (const auto *A = std::get_if<ast::Assignment>(&E.Node)) {
      readKey(*A);
      continue;
    }
    const auto &Table = std::get<ast::Section>(E.Node);
    if (Table.Keyword.Text != "warnings") {
      reportKey(Table.Keyword);
      continue;
    }
    for (const ast::Entry &Of : Table.Entries)
      readWarning(Of);
  }
}

Project readProject(StringRef Path, SourceFiles &Sources,
                    DiagnosticEngine &Diags) {
  Project P;
  P.Path = findProject(Path, Sources.system());
  if (P.Path.empty())
    return P;
  const ErrorOr<FileId> File = Sources.open(P.Path);
  if (!File)
    Diags.report({}, diag::FileUnreadable, P.Path, File.getError().message());
  else if (const std::optional<ast::Section> Read =
               parseToml(Sources.text(*File), Diags))
    ProjectReader(P, Diags).read(*Read);
  return P;
}

} // namespace foretrace
