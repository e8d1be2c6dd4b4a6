// SPDX-License-Identifier: Apache-2.0
#include "tools/compiler/Compiler.h"
#include "lang/Library.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Tools.h"
#include "tools/compiler/Project.h"
#include "tools/importers/Importers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace foretrace;
namespace vfs = llvm::vfs;

/// The library is looked at last: what stands beside a job or in its own
/// folders wins.
static FrontendOptions withLibrary(FrontendOptions Options) {
  Options.ImportPaths.push_back(LibraryFolder);
  return Options;
}

static bool runPlainly(ir::Program &P, llvm::ArrayRef<const PassInfo *> Passes,
                       DiagnosticEngine &Diags) {
  return runPasses(P, Passes, Diags, {});
}

static constexpr time_t NoTime = 0; ///< of a file in memory

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

/// How a text is read of which only the model matters.
static FrontendOptions modelAlone() {
  FrontendOptions Options;
  Options.IsOfModel = [](llvm::ArrayRef<ir::EmitSpec>) { return true; };
  return Options;
}

/// The name of a model of the library, `mixtral-8x7b`, is a job that imports it
/// if there is no such file.
void Compiler::layModel(llvm::StringRef Path) {
  if (Path.empty() || Sources.system().exists(Path))
    return;
  const std::string Import =
      Path.contains('/') ? Path.str() : ("models/" + Path + ".fore").str();
  if (!findLibraryModel(Import))
    return;
  const std::string Text = "import \"" + Import + "\"\n";
  setText(Path, Text);
  const CompiledJob &Model = read(Path, modelAlone());
  int64_t Sequence = 4096;
  if (Model.spec() && Model.spec()->Model.MaxPositions.isStated())
    Sequence = std::min(Sequence, *Model.spec()->Model.MaxPositions);
  forget(Model);
  Assumed[Path] = {{"train.sequence", Sequence},
                   {"train.micro_batch", 1},
                   {"parallel.world", 1}};
  setText(Path, llvm::formatv("{0}train {{ sequence = {1}  micro_batch = 1 }\n"
                              "parallel {{ world = 1 }\n",
                              Text, Sequence)
                    .str());
}

/// Warns of what is assumed of the job that is a model of the library.
void Compiler::reportAssumed(llvm::StringRef Path,
                             const FrontendOptions &Options,
                             DiagnosticEngine &Diags) {
  const auto Of = Assumed.find(Path);
  if (Of == Assumed.end())
    return;
  std::vector<std::string> Keys;
  for (const auto &[Key, Value] : Of->second)
    if (llvm::none_of(Options.Overrides, [&, &Key = Key](llvm::StringRef O) {
          return O.split('=').first.trim() == Key;
        }))
      Keys.push_back((Key.split('.').second + "=" + llvm::Twine(Value)).str());
  if (!Keys.empty())
    Diags.report({}, diag::AssumedKeys, Path, "--" + llvm::join(Keys, " --"));
}

/// Files of other tools that can take the place of a job, by their extension. A
/// configuration of Hugging Face is imported by one, so that it has a name.
static llvm::StringRef importerFor(llvm::StringRef Path) {
  return llvm::StringSwitch<llvm::StringRef>(llvm::sys::path::extension(Path))
      .Case(".json", "hf")
      .Cases(".sh", ".log", ".yaml", ".yml", "megatron")
      .Default("");
}

/// What messages call the job that is made of the file at \p Path. It is in its
/// folder, for imports.
static std::string nameOfMade(llvm::StringRef Path) {
  return (Path + " as a job").str();
}

llvm::StringRef Compiler::textOfForeign(llvm::StringRef Path) const {
  const auto Found = Texts.find(nameOfMade(Path));
  return Found == Texts.end() ? llvm::StringRef() : Found->second;
}

/// The path of the job that is read from standard input, or made of the file at
/// \p Path; \p Path itself if it is a job.
std::string Compiler::layForeign(llvm::StringRef Path,
                                 DiagnosticEngine &Diags) {
  if (Path == "-") {
    constexpr llvm::StringLiteral Name = "<stdin>";
    if (!Texts.count(Name)) { // it can be read once
      const auto Given = llvm::MemoryBuffer::getSTDIN();
      if (!Given)
        Diags.report({}, diag::FileUnreadable, Name,
                     Given.getError().message());
      setText(Name, Given ? (*Given)->getBuffer() : "");
    }
    return Name.str();
  }
  const llvm::StringRef Importer = importerFor(Path);
  if (Importer.empty() || !Sources.system().exists(Path))
    return Path.str();
  const std::string Job = nameOfMade(Path);
  if (Importer == "hf") {
    setText(Job,
            ("import \"" + llvm::sys::path::filename(Path) + "\" as model\n")
                .str());
    return Job;
  }
  const std::vector<std::string> Words = {Path.str()};
  importers::ImportRequest Request{Words, Sources, Diags};
  if (std::optional<importers::ImportedJob> Made =
          importers::findImporter(Importer)->Import(Request)) {
    std::string Text;
    llvm::raw_string_ostream OS(Text);
    Made->Model = importers::wordOf(llvm::sys::path::stem(Path));
    Made->write(OS);
    setText(Job, Text);
  }
  return Job;
}

/// Adds what the project file of the job says to what the options say.
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
  layModel(Path);
  useProject(Path, Options, Diags);
  const std::string Job = layForeign(Path, Diags);
  std::optional<ir::Spec> Spec;
  if (!Diags.hasErrors())
    Spec = compileSpec(Files, Job, withLibrary(Options), Diags);
  if (!Spec || !Options.IsOfModel || !Options.IsOfModel(Spec->Emits))
    reportAssumed(Path, Options, Diags);
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
  return compile(Path, Text, modelAlone());
}

void Compiler::forget(const CompiledJob &Job) {
  Jobs.remove_if([&](const CompiledJob &J) { return &J == &Job; });
}

std::optional<SweepSpec> Compiler::readSweep(llvm::StringRef Path,
                                             const FrontendOptions &Options,
                                             const SweepRequest &Request,
                                             DiagnosticEngine &Diags) {
  layFiles();
  layModel(Path);
  FrontendOptions All = Options;
  useProject(Path, All, Diags);
  const std::string Job = layForeign(Path, Diags);
  if (Diags.hasErrors())
    return std::nullopt;
  return compileSweep(Files, Job, withLibrary(std::move(All)), Request, Diags);
}

std::vector<ParamEntry> Compiler::listParams(llvm::StringRef Path,
                                             FrontendOptions Options,
                                             DiagnosticEngine &Diags) {
  layFiles();
  useProject(Path, Options, Diags);
  const std::string Job = layForeign(Path, Diags);
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
