// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/ApplyFixes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include <map>

using namespace llvm;

namespace foretrace::driver {

/// Fixes by file, in the order in which they are there; none overlaps another.
using Fixes = std::map<std::string, std::vector<FixIt>>;

/// Returns whether two fixes change the same bytes, or insert at one place.
static bool overlaps(const FixIt &A, const FixIt &B) {
  return A.Range.Begin == B.Range.Begin ||
         (A.Range.Begin < B.Range.End && B.Range.Begin < A.Range.End);
}

/// Adds all fixes of a diagnostic, or none.
static void add(const Diagnostic &D, const SourceFiles &Sources, Fixes &To) {
  if (D.Level != Severity::Error)
    return; // the program of a warning is legal, and may be meant
  for (const FixIt &F : D.FixIts) {
    const std::string Path = Sources.name(F.Range.File).str();
    if (!sys::fs::is_regular_file(Path) ||
        any_of(To[Path], [&](const FixIt &Of) { return overlaps(F, Of); }))
      return;
  }
  for (const FixIt &F : D.FixIts)
    To[Sources.name(F.Range.File).str()].push_back(F);
}

static void print(const FixIt &F, const SourceFiles &Sources, raw_ostream &OS) {
  OS << describePlace(Sources, F.Range) << ": ";
  const StringRef Old = Sources.slice(F.Range);
  if (Old.empty())
    OS << "added `" << F.Replacement << "`\n";
  else if (F.Replacement.empty())
    OS << "removed `" << Old << "`\n";
  else
    OS << "replaced `" << Old << "` with `" << F.Replacement << "`\n";
}

/// The text of a file with its fixes, which it prints.
static std::string apply(std::vector<FixIt> Of, const SourceFiles &Sources,
                         raw_ostream &OS) {
  sort(Of, [](const FixIt &A, const FixIt &B) {
    return A.Range.Begin < B.Range.Begin;
  });
  std::string Text = Sources.text(Of.front().Range.File).str().str();
  for (const FixIt &F : Of)
    print(F, Sources, OS);
  for (const FixIt &F : reverse(Of))
    Text.replace(F.Range.Begin, F.Range.End - F.Range.Begin, F.Replacement);
  return Text;
}

Error fixFiles(StringRef Path, const FrontendOptions &Options,
               const DiagnosticEngine &Diags, const OutputOptions &Writing,
               raw_ostream &OS) {
  constexpr unsigned MostRounds = 32; // a fix may reveal another error
  Compiler Session;
  std::map<std::string, std::string> Fixed;
  std::string Changes; // printed once they are written
  raw_string_ostream Log(Changes);
  for (unsigned Round = 0; Round != MostRounds; ++Round) {
    CompiledJob &Job = Session.read(Path, Options, Diags);
    if (Job.spec())
      (void)Job.program();
    Fixes All;
    for (const Diagnostic &D : Job.diagnostics())
      add(D, Session.sources(), All);
    Session.forget(Job);
    bool HasAny = false;
    for (const auto &[File, Of] : All)
      if (!Of.empty()) {
        HasAny = true;
        Fixed[File] = apply(Of, Session.sources(), Log);
        Session.setText(File, Fixed[File]);
      }
    if (!HasAny)
      break;
  }
  if (Fixed.empty())
    return Error::success();
  FileOutputs Out("", "", Writing);
  for (const auto &[File, Text] : Fixed)
    if (Error E =
            Out.add(File, [&, &New = Text](OutputStream &To) { To << New; }))
      return E;
  if (Error E = Out.commit())
    return E;
  OS << Changes;
  return Error::success();
}

} // namespace foretrace::driver
