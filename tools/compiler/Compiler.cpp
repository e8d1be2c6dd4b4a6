// SPDX-License-Identifier: Apache-2.0
#include "tools/compiler/Compiler.h"
#include "lang/DidYouMean.h"
#include "lang/Library.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Tools.h"
#include "tools/compiler/Project.h"
#include "tools/importers/Importers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace foretrace;
namespace vfs = llvm::vfs;

std::string foretrace::stemOfJob(llvm::StringRef Path) {
  namespace path = llvm::sys::path;
  if (Path == "-")
    return "stdin";
  const bool IsName = path::extension(Path) != ".fore" && findNamedModel(Path);
  return (IsName ? path::filename(Path) : path::stem(Path)).str();
}

/// The library is searched last: files beside a job or in its own folders take
/// precedence.
static FrontendOptions withLibrary(FrontendOptions Options) {
  Options.ImportPaths.push_back(LibraryFolder);
  return Options;
}

static bool runPlainly(ir::Program &P, llvm::ArrayRef<const PassInfo *> Passes,
                       DiagnosticEngine &Diags) {
  return runPasses(P, Passes, Diags, {});
}

static constexpr time_t NoTime = 0; ///< of a file in memory
static constexpr llvm::StringRef StdinName = "<stdin>";

/// Files in memory, whose relative paths begin where those of \p Disk do.
static llvm::IntrusiveRefCntPtr<vfs::InMemoryFileSystem>
makeMemory(const vfs::FileSystem &Disk) {
  auto Memory = llvm::makeIntrusiveRefCnt<vfs::InMemoryFileSystem>();
  if (auto Folder = Disk.getCurrentWorkingDirectory())
    (void)Memory->setCurrentWorkingDirectory(*Folder);
  return Memory;
}

static llvm::IntrusiveRefCntPtr<vfs::FileSystem>
makeLibrary(const vfs::FileSystem &Disk) {
  auto Library = makeMemory(Disk);
  for (const LibraryFile &F : libraryFiles())
    Library->addFile(llvm::Twine(LibraryFolder) + "/" + F.Path, NoTime,
                     llvm::MemoryBuffer::getMemBuffer(F.Text));
  return Library;
}

Compiler::Compiler(PassRunner Runner,
                   llvm::IntrusiveRefCntPtr<vfs::FileSystem> Disk)
    : Run(Runner ? std::move(Runner) : PassRunner(runPlainly)),
      Disk(std::move(Disk)), Library(makeLibrary(*this->Disk)), Files(Sources) {
  layFiles();
  Files.setForeignReader(
      [this](FileId File, llvm::StringRef Name, DiagnosticEngine &Diags) {
        return importers::importModel(File, Name, Sources, Diags);
      });
}

/// Lays the disk over the library, and the given texts over both.
void Compiler::layFiles() {
  auto Given = makeMemory(*Disk);
  for (const auto &Text : Texts)
    Given->addFile(Text.first(), NoTime,
                   llvm::MemoryBuffer::getMemBuffer(Text.second));
  auto All = llvm::makeIntrusiveRefCnt<vfs::OverlayFileSystem>(Library);
  All->pushOverlay(Disk);
  if (!Texts.empty())
    All->pushOverlay(std::move(Given));
  Sources.setSystem(std::move(All));
}

void Compiler::setText(llvm::StringRef Path, llvm::StringRef Text) {
  Texts[Path] = Text.str();
  layFiles();
}

void Compiler::clearText(llvm::StringRef Path) {
  Texts.erase(Path);
  layFiles();
}

/// Returns the names of models, their ids, and the files of the folder of
/// \p Path that are nearest to it.
static std::string namesNear(llvm::StringRef Path, vfs::FileSystem &Disk) {
  std::vector<std::string> Names;
  for (const LibraryModel &M : libraryModels()) {
    Names.push_back(M.Title.str());
    llvm::append_range(Names, idsOf(M));
  }
  const llvm::StringRef Folder = llvm::sys::path::parent_path(Path);
  std::error_code EC;
  for (vfs::directory_iterator
           It = Disk.dir_begin(Folder.empty() ? "." : Folder, EC),
           End;
       It != End && !EC; It.increment(EC)) {
    llvm::SmallString<128> File(Folder);
    llvm::sys::path::append(File, llvm::sys::path::filename(It->path()));
    Names.push_back(File.str().str());
  }
  llvm::sort(Names); // a folder has no order
  constexpr unsigned MostNames = 3;
  return llvm::join(
      nearestWords(Path,
                   std::vector<llvm::StringRef>(Names.begin(), Names.end()),
                   MostNames),
      "`, `");
}

/// Files of other tools that can take the place of a job, by their extension.
static llvm::StringRef importerFor(llvm::StringRef Path) {
  return llvm::StringSwitch<llvm::StringRef>(llvm::sys::path::extension(Path))
      .Case(".json", "hf")
      .Cases(".sh", ".log", ".yaml", ".yml", "megatron")
      .Default("");
}

/// Returns the name of the job that is made of the file at \p Path, in the
/// folder of that file because of imports.
static std::string nameOfMade(llvm::StringRef Path) {
  return (Path + " as a job").str();
}

llvm::StringRef Compiler::textOfForeign(llvm::StringRef Path) const {
  const auto Found = Texts.find(nameOfMade(Path));
  return Found == Texts.end() ? llvm::StringRef() : Found->second;
}

llvm::StringRef Compiler::givenText(llvm::StringRef Path) const {
  const auto Found = Texts.find(Path == "-" ? StdinName : Path);
  return Found == Texts.end() ? llvm::StringRef() : Found->second;
}

std::string Compiler::textOf(llvm::StringRef Path) {
  if (const llvm::StringRef Made = textOfForeign(Path); !Made.empty())
    return Made.str();
  const llvm::ErrorOr<FileId> File =
      Sources.open(Path == "-" ? StdinName : Path);
  return File ? Sources.text(*File).str().str() : "";
}

const ast::File *Compiler::parse(FileId File) {
  DiagnosticEngine Unheard;
  return Files.fore(File, Unheard);
}

/// Returns the path of the job that \p Path names, and adds its text unless it
/// is a file: standard input, a model of the library, or the file of another
/// tool.
std::string Compiler::layJob(llvm::StringRef Path, DiagnosticEngine &Diags) {
  namespace path = llvm::sys::path;
  if (Path == "-") {
    if (!Texts.count(StdinName)) { // it can be read once
      const auto Given = llvm::MemoryBuffer::getSTDIN();
      if (!Given)
        Diags.report({}, diag::FileUnreadable, StdinName,
                     Given.getError().message());
      setText(StdinName, Given ? (*Given)->getBuffer() : "");
    }
    return StdinName.str();
  }
  const auto Status = Sources.system().status(Path);
  if (!Status) {
    if (const LibraryModel *M = findNamedModel(Path)) {
      setText(Path, ("import \"models/" + M->Title + ".fore\"\n").str());
      return Path.str();
    }
    DiagnosticBuilder B = Diags.report({}, diag::FileUnreadable, Path,
                                       Status.getError().message());
    if (const std::string Near = namesNear(Path, Sources.system());
        !Near.empty())
      B.note({}, diag::DidYouMean, Near);
    return Path.str();
  }
  llvm::SmallString<128> File(Path);
  if (Status->isDirectory()) // of a checkpoint
    path::append(File, "config.json");
  const llvm::StringRef Importer = importerFor(File);
  if (Importer.empty() || !Sources.system().exists(File))
    return Path.str();
  const std::string Job = nameOfMade(Path);
  if (std::optional<importers::ImportedJob> Made =
          importers::importFile(Importer, File, Sources, Diags)) {
    std::string Text;
    llvm::raw_string_ostream OS(Text);
    Made->Model = importers::modelNameOf(File);
    Made->write(OS);
    setText(Job, Text);
  }
  return Job;
}

/// Adds the options of the job's project file to \p Options.
void Compiler::useProject(llvm::StringRef Path, FrontendOptions &Options,
                          DiagnosticEngine &Diags) {
  const Project P = readProject(Path, Sources, Diags);
  llvm::append_range(Options.ImportPaths, P.ImportPaths);
  P.applyTo(Diags);
}

std::vector<std::string> Compiler::importPaths(llvm::StringRef Path) {
  FrontendOptions Options;
  DiagnosticEngine Diags; // read() reports
  useProject(Path, Options, Diags);
  return withLibrary(std::move(Options)).ImportPaths;
}

CompiledJob &Compiler::read(llvm::StringRef Path, FrontendOptions Options,
                            DiagnosticEngine Diags) {
  useProject(Path, Options, Diags);
  const std::string Job = layJob(Path, Diags);
  Options.ModelName = Path == "-" ? Job : Path.str();
  std::optional<ir::Spec> Spec;
  if (!Diags.hasErrors())
    Spec = compileSpec(Files, Job, withLibrary(Options), Diags);
  if (Diags.hasErrors()) // not only of the job
    Spec.reset();
  return Jobs.emplace_back(Run, Structures, std::move(Spec), std::move(Diags));
}

CompiledJob &Compiler::compile(llvm::StringRef Path, llvm::StringRef Text,
                               FrontendOptions Options) {
  setText(Path, Text);
  CompiledJob &Job = read(Path, std::move(Options));
  Job.program();
  return Job;
}

CompiledJob &Compiler::compileModel(llvm::StringRef Path,
                                    llvm::StringRef Text) {
  FrontendOptions Options;
  Options.IsOfModel = [](llvm::ArrayRef<ir::EmitSpec>) { return true; };
  return compile(Path, Text, std::move(Options));
}

void Compiler::forget(const CompiledJob &Job) {
  Jobs.remove_if([&](const CompiledJob &J) { return &J == &Job; });
}

std::optional<SweepSpec> Compiler::readSweep(llvm::StringRef Path,
                                             const FrontendOptions &Options,
                                             const SweepRequest &Request,
                                             DiagnosticEngine &Diags) {
  layFiles();
  FrontendOptions All = Options;
  useProject(Path, All, Diags);
  const std::string Job = layJob(Path, Diags);
  if (Diags.hasErrors())
    return std::nullopt;
  return compileSweep(Files, Job, withLibrary(std::move(All)), Request, Diags);
}

std::vector<ParamEntry> Compiler::listParams(llvm::StringRef Path,
                                             FrontendOptions Options,
                                             DiagnosticEngine &Diags) {
  layFiles();
  useProject(Path, Options, Diags);
  const std::string Job = layJob(Path, Diags);
  return foretrace::listParams(Files, Job, withLibrary(std::move(Options)),
                               Diags);
}

std::optional<ir::EmitSpec>
Compiler::readEmit(llvm::StringRef Backend, llvm::ArrayRef<std::string> Options,
                   DiagnosticEngine &Diags) {
  return compileEmit(Files, Backend, Options, Diags);
}

std::optional<ir::ClusterSpec> Compiler::readCluster(llvm::StringRef Path,
                                                     FrontendOptions Options,
                                                     DiagnosticEngine &Diags) {
  return compileCluster(Files, Path, withLibrary(std::move(Options)), Diags);
}
