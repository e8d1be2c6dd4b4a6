// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/EmitPoints.h"
#include "lang/ReadFile.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Tools.h"
#include "tools/driver/EmitBlocks.h"
#include "tools/driver/Emitter.h"
#include "tools/output/Exchange.h"
#include "tools/sweep/Digest.h"
#include "tools/sweep/Results.h"
#include "tools/sweep/Schema.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::sweep {

static std::string pathIn(StringRef Folder, const Twine &Name) {
  SmallString<128> Path(Folder);
  sys::path::append(Path, Name);
  return Path.str().str();
}

/// Removes the folder, if there is one.
static Error removeFolder(StringRef Path) {
  if (!sys::fs::exists(Path))
    return Error::success();
  const std::error_code Code =
      sys::fs::remove_directories(Path, /*IgnoreErrors=*/false);
  return Code ? fileError(Path, Code) : Error::success();
}

namespace {

/// Files that points have in common are on the disk once: points that differ in
/// their network alone have the same workload.
class SharedFiles {
public:
  /// Learns the files of a point, which stay where they are.
  Error learn(StringRef Point);
  /// Replaces files in \p Begun that are known by links to them, and remembers
  /// the others, which will be in \p Point. Where the file system has no links
  /// they stay as they are.
  Error link(StringRef Begun, StringRef Point);

  /// Returns whether one of them is a script.
  bool hasScript() const { return HasScript; }

private:
  void add(const std::string &Path, std::string Digest);

  StringMap<std::string> Known; ///< paths by digests of their contents
  bool HasScript = false;
};

} // namespace

/// Calls \p Take with each file in \p Folder and the digest of its contents.
static Error
forEachFile(StringRef Folder,
            function_ref<Error(const std::string &, std::string)> Take) {
  Expected<std::vector<std::string>> Files = filesIn(Folder);
  if (!Files)
    return Files.takeError();
  for (const std::string &F : *Files) {
    const ErrorOr<std::unique_ptr<MemoryBuffer>> Text = readLargeFile(F);
    if (!Text)
      return fileError(F, Text.getError());
    if (Error E = Take(F, digestOf((*Text)->getBuffer())))
      return E;
  }
  return Error::success();
}

void SharedFiles::add(const std::string &Path, std::string Digest) {
  HasScript |= StringRef(Path).ends_with(".sh");
  Known.try_emplace(std::move(Digest), Path);
}

Error SharedFiles::learn(StringRef Point) {
  return forEachFile(Point, [&](const std::string &F, std::string Digest) {
    add(F, std::move(Digest));
    return Error::success();
  });
}

Error SharedFiles::link(StringRef Begun, StringRef Point) {
  return forEachFile(Begun, [&](const std::string &F, std::string Digest) {
    const auto It = Known.find(Digest);
    const std::string Link = F + ".link";
    std::error_code Code;
    if (It != Known.end() && !sys::fs::create_hard_link(It->second, Link))
      Code = sys::fs::rename(Link, F);
    // It will be there once all files of the point are complete.
    add((Point + StringRef(F).drop_front(Begun.size())).str(),
        std::move(Digest));
    return Code ? fileError(F, Code) : Error::success();
  });
}

namespace {

/// A folder with one for each point. Unfinished points are in a subfolder that
/// is removed at the end, or by the next run.
class PointsFolder {
public:
  PointsFolder(StringRef Path, const OutputOptions &Writing)
      : Path(Path.str()), Part(in(".part")) {
    Own.IsDurable = Writing.IsDurable;
  }
  ~PointsFolder() {
    if (Lock)
      consumeError(clean());
  }

  /// Removes what was begun.
  Error clean() const { return removeFolder(Part); }
  Error check(const std::string &Identity, const InputFiles &Inputs);
  Error checkInputs(const InputFiles &Inputs) const;
  Error claim(const std::string &Identity, const InputFiles &Inputs);
  std::string in(const Twine &Name) const { return pathIn(Path, Name); }
  std::string begun(const Twine &Name) const { return pathIn(Part, Name); }
  const OutputOptions &writing() const { return Own; }
  /// Renames unfinished output to its final name.
  Error place(const Twine &Name) const {
    std::error_code Code = sys::fs::rename(begun(Name), in(Name));
    if (!Code && Own.IsDurable)
      Code = syncFolder(Path);
    return Code ? fileError(in(Name), Code) : Error::success();
  }

private:
  const std::string Path, Part;
  OutputOptions Own;  ///< of files that belong to no point
  bool IsOwn = false; ///< it has points of this sweep
  std::optional<WriteLock> Lock;
};

} // namespace

/// Checks that no file that the sweep reads is replaced or removed.
Error PointsFolder::checkInputs(const InputFiles &Inputs) const {
  for (const StringRef Name : {".sweep", "run.sh"})
    if (Error E = Inputs.check(in(Name)))
      return E;
  std::error_code Code;
  for (sys::fs::recursive_directory_iterator I(Part, Code), End;
       !Code && I != End; I.increment(Code))
    if (Error E = Inputs.check(I->path()))
      return E;
  return Error::success();
}

/// Looks whether the folder is the same sweep's: points of another one have the
/// same numbers.
Error PointsFolder::check(const std::string &Identity,
                          const InputFiles &Inputs) {
  if (Error E = checkInputs(Inputs))
    return E;
  const ErrorOr<std::unique_ptr<MemoryBuffer>> Before =
      readLargeFile(in(".sweep"));
  IsOwn = Before && (*Before)->getBuffer() == Identity;
  if (Before && !IsOwn)
    return createStringError("`" + Path +
                             "`: has points of another sweep; say another "
                             "folder with --points, or remove it");
  std::error_code Code;
  int64_t Number;
  for (sys::fs::directory_iterator I(Path, Code), End;
       !IsOwn && !Code && I != End; I.increment(Code))
    if (!sys::path::filename(I->path()).getAsInteger(10, Number))
      return createStringError("`" + I->path() +
                               "`: is there already, and no point of a sweep; "
                               "say another folder with --points");
  return Error::success();
}

/// Makes the folder this sweep's, and holds it.
Error PointsFolder::claim(const std::string &Identity,
                          const InputFiles &Inputs) {
  if (std::error_code Code = sys::fs::create_directories(Path))
    return fileError(Path, Code);
  Expected<WriteLock> Held = WriteLock::take(in(".sweep"));
  if (!Held)
    return Held.takeError();
  Lock.emplace(std::move(*Held));
  if (Error E = check(Identity, Inputs))
    return E;
  if (Error E = removeFolder(Part))
    return E;
  if (std::error_code Code = sys::fs::create_directory(Part))
    return fileError(Part, Code);
  if (IsOwn)
    return Error::success();
  if (Error E = writeFile(begun(".sweep"), Own, {},
                          [&](raw_ostream &OS) { OS << Identity; }))
    return E;
  if (Error E = place(".sweep"))
    return E;
  const StringRef Parent = sys::path::parent_path(Path);
  if (const std::error_code Code =
          Own.IsDurable ? syncFolder(Parent.str()) : std::error_code())
    return fileError(Parent, Code);
  return Error::success();
}

/// Returns a text of all that the files of points follow from.
static std::string identityOf(const Sweep &S, ArrayRef<std::string> Backends) {
  std::string Identity;
  for (const SweepProperty &F : propertiesOf(S))
    Identity += F.Name + " " + F.Value + "\n";
  return Identity + "emit " + join(Backends, ",") + "\n";
}

/// Emits one point into \p Folder; false if a backend refuses it, an error if
/// it can't be written.
static Expected<bool> emitPoint(Compiler &Session, CompiledJob &Job,
                                const EmitPointsOptions &Options,
                                StringRef Stem, StringRef Folder) {
  if (!Job.spec()) // it was legal when it was judged
    return createStringError(Job.diagnostics().front().text());
  const std::vector<ir::EmitSpec> Emits =
      driver::selectEmits(Job.spec()->Emits, Options.Backends);
  driver::EmitterOptions To;
  To.To.Folder = Folder.str();
  To.Stem = Stem.str();
  To.IsQuiet = true;
  To.Writing = Options.Writing;
  To.Writing.ShowsProgress = false;
  To.IsApart = true;
  driver::Emitter Emitter(std::move(To), Session.sources(), Job.engine());
  Emitter.emitJob(Job, Emits);
  Emitter.commit();
  for (const Diagnostic &D : Job.diagnostics())
    if (D.Id == diag::CannotWrite || D.Id == diag::OutputNoSpace)
      return createStringError(D.text());
  return !Job.engine().hasErrors();
}

Error checkPoints(const Sweep &S, const EmitPointsOptions &Options) {
  return PointsFolder(Options.Folder, Options.Writing)
      .check(identityOf(S, Options.Backends), Options.Inputs);
}

Expected<EmittedPoints> emitPoints(Compiler &Session, const Sweep &S,
                                   Database &DB,
                                   const EmitPointsOptions &Options,
                                   function_ref<void(size_t, size_t)> Progress,
                                   DiagnosticEngine &Diags) {
  PointsFolder Folder(Options.Folder, Options.Writing);
  if (Error E = Folder.claim(identityOf(S, Options.Backends), Options.Inputs))
    return E;
  Expected<std::vector<int64_t>> Points = DB.kept();
  if (!Points)
    return Points.takeError();
  EmittedPoints Out;
  SharedFiles Shared;
  for (const auto &[Index, Id] : enumerate(*Points)) {
    const std::string Name = std::to_string(Id);
    if (sys::fs::is_directory(Folder.in(Name))) { // it is whole
      ++Out.Before;
      if (Error E = Shared.learn(Folder.in(Name)))
        return E;
      continue;
    }
    CompiledJob &Job = replay(Session, S, Id, Options.AreOfSweep);
    Expected<bool> IsEmitted = emitPoint(
        Session, Job, Options, sys::path::stem(S.Job), Folder.begun(Name));
    if (!IsEmitted)
      return IsEmitted.takeError();
    if (!*IsEmitted) {
      if (Error E = removeFolder(Folder.begun(Name)))
        return E;
      if (Out.Refused++ == 0) {
        Out.FirstRefused = Id;
        Diags = std::move(Job.engine());
      }
    } else {
      if (Error E = Shared.link(Folder.begun(Name), Folder.in(Name)))
        return E;
      if (Error E = Folder.place(Name))
        return E;
      ++Out.Count;
    }
    Session.forget(Job);
    Progress(Index + 1, Points->size());
  }
  if (Shared.hasScript()) {
    if (Error E = writeRunScript(Folder.begun("run.sh"), Folder.writing(),
                                 Options.Folder, Options.Database))
      return E;
    if (Error E = Folder.place("run.sh"))
      return E;
  }
  if (Error E = Folder.clean())
    return E;
  return Out;
}

} // namespace foretrace::sweep
