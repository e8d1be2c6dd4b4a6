// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/Emitter.h"
#include "analysis/Figures.h"
#include "backends/Backends.h"
#include "ir/model/Spellings.h"
#include "ir/verify/Verify.h"
#include "lang/NumberText.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Tools.h"
#include "tools/driver/EmitBlocks.h"
#include "tools/output/ConfinedOutputs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace llvm;

namespace foretrace::driver {

Emitter::Emitter(EmitterOptions Given, const SourceFiles &Sources,
                 DiagnosticEngine &Diags)
    : Options(std::move(Given)), Sources(Sources),
      Outputs(Options.To.Folder, Options.To.Stream, Options.Writing),
      Diags(Diags) {}

/// The program for a block that allows errors. One that it has has consequences
/// only a format that needs nothing but the spec can reproduce.
std::optional<ir::Program> Emitter::establishAllowed(CompiledJob &Job,
                                                     ir::FactSet Needs,
                                                     const ir::EmitSpec &Emit) {
  const ir::FactSet Complete = {ir::Fact::Complete};
  ir::Program P;
  P.Spec = *Job.spec();
  if (!Job.establish(P, Complete))
    return std::nullopt;
  if (Diags.usedAllowance() && !Complete.contains(Needs)) {
    Diags.report(Emit.Range, diag::AllowedJobNeedsAicb);
    return std::nullopt;
  }
  if (!Job.establish(P, Needs))
    return std::nullopt;
  // If errors are allowed, the output reproduces their effect.
  if (!Diags.usedAllowance() && !ir::verify(P, Diags))
    return std::nullopt;
  return P;
}

void Emitter::showCommand(const Emission &Block, const EmitRequest &Request,
                          size_t FirstFile) const {
  if (!Options.ShowsCommand)
    return;
  for (const FileOutputs::File &F : Outputs.files().drop_front(FirstFile)) {
    const std::string Command = Block.showCommand(Request, F.Path);
    if (!Command.empty())
      (F.Path == "-" ? errs() : outs()) << Command << "\n";
  }
}

/// Returns the option of \p Emit with the path of its files, or the block if it
/// has none; nowhere if the command line names the file.
static SourceRange placeOf(const Backend &Format, const ir::EmitSpec &Emit,
                           const Destination &To) {
  if (!To.File.empty())
    return {};
  for (const ir::NamedAttribute &Option : Emit.Options.Fields)
    if (const EmitOption *Known = Format.findOption(Option.Name);
        Known && Known->IsPath && Option.Value.Range.isValid())
      return Option.Value.Range;
  return Emit.Range;
}

/// With changes of the job for which the format asks.
static Error writeBlock(const Emission &Block, const EmitRequest &Request,
                        const EmitterOptions &Options, OutputSet &Files) {
  std::optional<Figures> F = Block.figures(Request);
  if (!F)
    return Block.emit(Request, Files);
  if (Options.ListFitting && F->ExceededRoom)
    F->Tables.push_back(Options.ListFitting(*F->ExceededRoom));
  if (Options.ListFaster && F->IsOfTime)
    F->Tables.push_back(Options.ListFaster());
  return Block.emitFigures(Request, *F, Files);
}

/// Returns the job about the engine that shares requests with that of \p S;
/// null if none does.
CompiledJob *Emitter::peerOf(const ir::Spec &S) {
  if (!Peer && S.Serve && !S.Serve->Peer.empty() && Options.ReadPool)
    Peer = &Options.ReadPool(S.Serve->Peer, Diags.cloneEmpty());
  return Peer;
}

/// Returns the program of the other engine; null after an error.
const ir::Program *Emitter::compilePeer(CompiledJob &Peer, ir::FactSet Needs) {
  const ir::Program *P = Peer.program(Needs);
  Diags.take(Peer.engine());
  return P;
}

/// Reports values that engines which exchange caches must have in common.
bool Emitter::checkPeer(const ir::Spec &S) {
  CompiledJob *Other = peerOf(S);
  if (!Other)
    return true;
  const ir::Program *P = compilePeer(*Other, {ir::Fact::Complete});
  if (!P)
    return false;
  const ir::ServeSpec &Own = *S.Serve, &Its = *P->Spec.Serve;
  bool IsSame = true;
  auto Compare = [&](llvm::StringRef Key, const auto &A, const auto &B) {
    if (*A == *B)
      return;
    IsSame = false;
    DiagnosticBuilder D = Diags.report(A.Range.isValid() ? A.Range : Own.Range,
                                       diag::TransferKinds, Key, ir::spell(*A),
                                       Own.Name, ir::spell(*B), Its.Name);
    if (A.isStated())
      D.fix(A.Range, ir::spell(*B));
  };
  Compare("kv_precision", Own.KvPrecision, Its.KvPrecision);
  Compare("block", Own.Block, Its.Block);
  return IsSame;
}

void Emitter::write(const ir::Program &P, CompiledJob *Job,
                    const Backend &Format, const Emission &Block,
                    const ir::EmitSpec &Emit) {
  const unsigned ErrorsBefore = Diags.errorCount();
  if (Options.Inspect)
    Options.Inspect(P);
  auto Where = [&](SourceRange R) { return lineOf(Sources, R); };
  ir::ExprOverlay Sizes(P);
  JobFigures Figures(Sizes, Validity::ThisJob);
  EmitRequest Request{P, Figures, Emit, Options.Stem, Where, &Sources};
  const auto Peer = [&] {
    CompiledJob *Other = peerOf(P.Spec);
    return Other ? compilePeer(*Other, Block.needs()) : nullptr;
  };
  Request.Peer = Peer;
  const auto Largest = [&] {
    return Job ? Job->largestStep(Block.needs()) : nullptr;
  };
  Request.Largest = Largest;
  if (Options.ListFitting)
    Request.ListFitting = Options.ListFitting;
  if (Options.To.Stream.empty())
    Request.MaxBytes = Options.Writing.MaxBytes;
  IsIllegal |= !checkPeer(P.Spec);
  if (IsIllegal || !Block.check(Request, Diags) ||
      Diags.errorCount() != ErrorsBefore)
    return;
  const size_t FilesBefore = Outputs.files().size();
  if (!Options.IsApart)
    Outputs.inputs().add(Sources);
  OutputSet &All = Options.Into ? *Options.Into : Outputs;
  ConfinedOutputs Confined(All, Format, Emit, Diags);
  const bool IsOfJob = Emit.Range.isValid(); // not of the command line
  OutputSet &Files = IsOfJob && !Options.MayLeaveFolder ? Confined : All;
  if (Error E = writeBlock(Block, Request, Options, Files)) {
    reportOutput(std::move(E), placeOf(Format, Emit, Options.To), Diags);
    return;
  }
  showCommand(Block, Request, FilesBefore);
  if (Block.needs().contains(ir::Fact::Costs) && !Format.HasFigures)
    Durations = P.Spec.Cost.describeDurations();
}

/// Lets \p Job know what the block will ask for. What is wrong with the block
/// is reported when it does.
void Emitter::expect(CompiledJob &Job, const ir::EmitSpec &Emit) const {
  const Backend *Format = findBackend(Emit.Backend);
  if (!Format)
    return;
  DiagnosticEngine Unheard;
  const ir::FactSet Needs = Format->read(Emit, Unheard)->needs();
  if (!Unheard.hasErrors() && !Unheard.allowsAny())
    Job.expect(Needs);
}

void Emitter::emitJob(CompiledJob &Job, ArrayRef<ir::EmitSpec> Emits) {
  for (const ir::EmitSpec &E : Emits)
    expect(Job, E);
  for (const ir::EmitSpec &E : Emits)
    emitBlock(Job, E);
}

void Emitter::emitBlock(CompiledJob &Job, const ir::EmitSpec &Emit) {
  const Backend *Format = backendOf(Emit, Diags);
  if (!Format || IsIllegal)
    return;
  Diags.clearAllowed();
  const unsigned ErrorsBefore = Diags.errorCount();
  const std::unique_ptr<Emission> Block = Format->read(Emit, Diags);
  const ir::FactSet Needs = Block->needs();
  std::optional<ir::Program> Apart;
  const ir::Program *P = nullptr;
  if (Diags.allowsAny())
    Apart = establishAllowed(Job, Needs, Emit);
  else if (Job.spec() && Job.spec()->Serve &&
           Block->servedStep() == ServedStep::Largest)
    P = Job.largestStep(Needs);
  else
    P = Job.program(Needs);
  if (Apart)
    P = &*Apart;
  if (P && Diags.errorCount() == ErrorsBefore)
    write(*P, &Job, *Format, *Block, Emit);
}

void Emitter::emitProgram(const ir::Program &P, const ir::EmitSpec &Emit) {
  const Backend *Format = findBackend(Emit.Backend);
  assert(Format && "there is one");
  const unsigned ErrorsBefore = Diags.errorCount();
  const std::unique_ptr<Emission> Block = Format->read(Emit, Diags);
  if (Diags.errorCount() != ErrorsBefore)
    return;
  assert(P.Facts.contains(Block->needs()) && "it takes the program as it is");
  if (ir::verify(P, Diags))
    write(P, nullptr, *Format, *Block, Emit);
}

namespace {

/// The name of a file of one rank, `gpt.12.et`.
struct RankFile {
  StringRef Before, After; ///< `gpt` and `et`
  int64_t Rank = -1;       ///< negative: no such name

  explicit RankFile(StringRef Name) {
    StringRef Number;
    std::tie(Before, After) = Name.rsplit('.');
    std::tie(Before, Number) = Before.rsplit('.');
    if (Number.getAsInteger(10, Rank) || std::to_string(Rank) != Number)
      Rank = -1;
  }
  bool isLike(const RankFile &Other) const {
    return Rank >= 0 && Before == Other.Before && After == Other.After;
  }
};

} // namespace

/// Warns of files of higher ranks beside the last one that was written, which
/// are of a larger job: readers of a set take them for a part of it.
static void reportStale(StringRef Last, DiagnosticEngine &Diags) {
  const RankFile Written(sys::path::filename(Last));
  const StringRef Folder = sys::path::parent_path(Last);
  int64_t Count = 0, Lowest = INT64_MAX, Highest = 0;
  std::error_code EC;
  for (sys::fs::directory_iterator I(Folder.empty() ? "." : Folder, EC), End;
       I != End && !EC; I.increment(EC)) {
    const RankFile Other(sys::path::filename(I->path()));
    if (!Other.isLike(Written) || Other.Rank <= Written.Rank)
      continue;
    ++Count;
    Lowest = std::min(Lowest, Other.Rank);
    Highest = std::max(Highest, Other.Rank);
  }
  const std::string Set = (Written.Before + ".*." + Written.After).str();
  if (Count != 0)
    Diags.report({}, diag::StaleFiles, Count, Set, Lowest, Highest,
                 Written.Rank);
}

/// Reports stale files of each set that has one file for each rank.
static void reportStale(ArrayRef<FileOutputs::File> Files,
                        DiagnosticEngine &Diags) {
  // Rank and path by set.
  std::map<std::string, std::pair<int64_t, StringRef>> Last;
  for (const FileOutputs::File &F : Files) {
    const RankFile Name(sys::path::filename(F.Path));
    if (Name.Rank < 0)
      continue;
    const std::string Set =
        (sys::path::parent_path(F.Path) + "/" + Name.Before + "/" + Name.After)
            .str();
    auto &[Rank, Path] = Last.try_emplace(Set, -1, "").first->second;
    if (Name.Rank > Rank)
      std::tie(Rank, Path) = std::pair(Name.Rank, F.Path);
  }
  for (const auto &Set : Last)
    reportStale(Set.second.second, Diags);
}

void Emitter::commit() {
  if (Diags.hasErrors())
    return;
  if (Error E = Outputs.commit()) {
    reportOutput(std::move(E), {}, Diags);
    return;
  }
  reportStale(Outputs.files(), Diags);
  if (Options.IsQuiet)
    return;
  errs().SetBuffered(); // there may be a file a rank
  for (const FileOutputs::File &F : Outputs.files())
    if (F.Path != "-")
      errs() << "wrote " << F.Path << " ("
             << printBytes(static_cast<double>(F.Bytes)) << ")\n";
  if (!Durations.empty() &&
      any_of(Outputs.files(), [](const auto &F) { return F.Path != "-"; }))
    errs() << "durations are " << Durations << '\n';
  for (const std::string &Name : Outputs.leftOut())
    errs() << "left out " << Name << ": the output is a stream\n";
  errs().SetUnbuffered();
}

Destination destinationOf(StringRef Path) {
  if (Path.empty())
    return {};
  if (isStream(Path))
    return {"", "", Path.str()};
  if (Path.ends_with("/") || sys::fs::is_directory(Path))
    return {Path.str(), "", ""};
  return {sys::path::parent_path(Path).str(), sys::path::filename(Path).str(),
          ""};
}

} // namespace foretrace::driver
