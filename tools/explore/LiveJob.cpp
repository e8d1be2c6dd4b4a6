// SPDX-License-Identifier: Apache-2.0
#include "tools/explore/LiveJob.h"
#include "backends/report/Report.h"
#include "tools/explore/JobText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::explore {

LiveJob::LiveJob(std::string Path, FrontendOptions Reading)
    : Path(std::move(Path)), Reading(std::move(Reading)), JobPath(this->Path) {}

static std::string folderOf(StringRef Path) {
  const StringRef Folder = sys::path::parent_path(Path);
  return Folder.empty() ? "." : Folder.str();
}

bool LiveJob::load(DiagnosticEngine Diags, Shower Show) {
  Compiler Whole;
  const SourceFiles &Sources = Whole.sources();
  CompiledJob &Job = Whole.read(Path, Reading, std::move(Diags));
  const bool IsLegal = Job.program(report::needs({}));
  Show(Job.engine(), Sources);
  const StringRef Foreign = Whole.textOfForeign(Path);
  JobPath = Foreign.empty() ? Path : Path + ".fore";
  Text = Whole.textOf(Path);
  std::vector<std::string> Folders = {folderOf(Path)};
  Folders.insert(Folders.end(), Reading.ImportPaths.begin(),
                 Reading.ImportPaths.end());
  Files = makeIntrusiveRefCnt<ConfinedFiles>(Folders);
  Read = {Path};
  for (unsigned I = 1; I <= Sources.forRenderer().getNumBuffers(); ++I) {
    const StringRef Name = Sources.name(FileId(I));
    Files->allow(Name);
    Read.push_back(Name.str());
  }
  if (Job.spec())
    Text = writeChanges(Text, assumedKeys(*Job.spec())).Text;
  Stamp = stampOf(Read);
  Session = makeSession();
  Kept = 0;
  return IsLegal;
}

std::string LiveJob::stampOf(ArrayRef<std::string> Files) {
  std::string All;
  raw_string_ostream OS(All);
  for (const std::string &File : Files) {
    sys::fs::file_status Status;
    if (!sys::fs::status(File, Status))
      OS << Status.getLastModificationTime().time_since_epoch().count() << '-'
         << Status.getSize() << '-' << Status.getUniqueID().getFile();
    OS << '.';
  }
  return All;
}

std::unique_ptr<Compiler> LiveJob::makeSession() const {
  return std::make_unique<Compiler>(PassRunner(), Files);
}

std::unique_ptr<Compiler> LiveJob::makeApart() const {
  return std::make_unique<Compiler>(PassRunner(),
                                    makeIntrusiveRefCnt<ConfinedFiles>(*Files));
}

FrontendOptions LiveJob::optionsOf(const JobVariant &V) const {
  FrontendOptions Options = Reading;
  append_range(Options.Overrides, V.Changes);
  return Options;
}

start::OpenJob LiveJob::openJob(const JobVariant &V,
                                CancelFlag IsCancelled) const {
  return {
      JobPath, V.Text.value_or(Text), optionsOf(V),
      [Files = Files] { return makeIntrusiveRefCnt<ConfinedFiles>(*Files); },
      [Flag = std::move(IsCancelled)] { return Flag->load(); }};
}

FrontendOptions LiveJob::prepare(Compiler &For, const JobVariant &V) const {
  const StringRef Is = V.Text ? StringRef(*V.Text) : StringRef(Text);
  For.setText(JobPath, Is);
  FrontendOptions Options = optionsOf(V);
  for (const std::string &Change : Options.Overrides)
    Kept += Change.size();
  constexpr size_t OfEach = 256; // overhead of a text beside its bytes
  Kept += (V.Text ? Is.size() : 0) + OfEach;
  return Options;
}

void LiveJob::refresh() {
  constexpr size_t MostKept = size_t(16) << 20;
  if (Kept < MostKept)
    return;
  Kept = 0;
  Session = makeSession();
}

VariantJob::VariantJob(LiveJob &Of, const JobVariant &V, DiagnosticEngine Diags)
    : Of(Of), Job([&]() -> CompiledJob & {
        FrontendOptions Options = Of.prepare(Of.session(), V);
        return Of.session().read(Of.jobPath(), std::move(Options),
                                 std::move(Diags));
      }()) {}

} // namespace foretrace::explore
