// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/EmitPoints.h"
#include "tools/driver/EmitBlocks.h"
#include "tools/driver/Emitter.h"
#include "tools/sweep/Results.h"
#include "tools/sweep/Schema.h"
#include "tools/sweep/SharedFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::sweep {

static std::string pathIn(StringRef Folder, const Twine &Name) {
  SmallString<128> Path(Folder);
  sys::path::append(Path, Name);
  return Path.str().str();
}

static Error fileError(StringRef Path, std::error_code Code) {
  return createStringError("`" + Path + "`: " + Code.message());
}

/// Makes the folder, or looks whether it is of this sweep: points of another
/// one have the same numbers.
static Error claim(StringRef Folder, const Sweep &S) {
  if (std::error_code Code = sys::fs::create_directories(Folder))
    return fileError(Folder, Code);
  std::string Identity;
  for (const Fact &F : factsOf(S))
    Identity += F.Name + " " + F.Value + "\n";
  const std::string Mark = pathIn(Folder, ".sweep");
  const ErrorOr<std::unique_ptr<MemoryBuffer>> Before =
      MemoryBuffer::getFile(Mark);
  if (Before && (*Before)->getBuffer() == Identity)
    return Error::success();
  if (Before)
    return createStringError("`" + Folder +
                             "`: has points of another sweep; say another "
                             "folder with --points, or remove it");
  return writeFile(Mark, /*ShowsProgress=*/false,
                   [&](raw_ostream &OS) { OS << Identity; });
}

/// Emits one point into \p Folder; false if a backend refuses it.
static bool emitPoint(Compiler &Session, CompiledJob &Job,
                      const EmitPointsOptions &Options, StringRef Stem,
                      StringRef Folder) {
  const std::vector<ir::EmitSpec> Emits =
      driver::selectEmits(*Job.spec(), Options.Backends);
  driver::EmitterOptions To;
  To.To.Folder = Folder.str();
  To.Stem = Stem.str();
  To.IsQuiet = true;
  To.Threads = Options.Threads;
  driver::Emitter Emitter(std::move(To), Session.sources(), Job.engine());
  Emitter.emitJob(Job, Emits);
  Emitter.commit();
  return !Job.engine().hasErrors();
}

Expected<EmittedPoints> emitPoints(Compiler &Session, const Sweep &S,
                                   Database &DB,
                                   const EmitPointsOptions &Options,
                                   DiagnosticEngine &Diags) {
  if (Error E = claim(Options.Folder, S))
    return E;
  Expected<std::vector<Database::KeptPoint>> Points = DB.kept();
  if (!Points)
    return Points.takeError();
  EmittedPoints Out;
  SharedFiles Shared(Options.Folder);
  for (const auto &[Index, P] : enumerate(*Points)) {
    const std::string Folder = pathIn(Options.Folder, Twine(P.Id)),
                      Beside = pathIn(Options.Folder, "." + Twine(P.Id));
    if (P.IsEmitted && sys::fs::is_directory(Folder)) {
      ++Out.Before;
      if (Error E = Shared.learn(Twine(P.Id).str()))
        return E;
      continue;
    }
    // What a run that was killed left.
    for (const std::string &Left : {Beside, Folder})
      if (std::error_code Code;
          sys::fs::exists(Left) &&
          (Code = sys::fs::remove_directories(Left, /*IgnoreErrors=*/false)))
        return fileError(Left, Code);
    CompiledJob &Job = replay(Session, S, P.Id, Options.AreOfSweep);
    if (!emitPoint(Session, Job, Options, sys::path::stem(S.Job), Beside)) {
      (void)sys::fs::remove_directories(Beside);
      if (Out.Refused++ == 0) {
        Out.FirstRefused = P.Id;
        Diags = std::move(Job.engine());
      }
    } else {
      if (Error E = Shared.link(Beside))
        return E;
      if (std::error_code Code = sys::fs::rename(Beside, Folder))
        return fileError(Folder, Code);
      if (Error E = DB.noteEmitted(P.Id))
        return E;
      if (Error E = Shared.learn(Twine(P.Id).str()))
        return E;
      ++Out.Count;
    }
    Session.forget(Job);
    Options.Progress(Index + 1, Points->size());
  }
  if (Error E = writeRunScript(Options.Folder, Options.Database))
    return E;
  return Out;
}

} // namespace foretrace::sweep
