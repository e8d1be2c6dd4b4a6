// SPDX-License-Identifier: Apache-2.0
#include "tools/python/HeldJob.h"
#include "backends/Backends.h"
#include "lang/DiagnosticClient.h"
#include "lang/diagnostics/Tools.h"
#include "tools/driver/EmitBlocks.h"
#include "tools/driver/Process.h"
#include "tools/explain/Printer.h"
#include "tools/start/JobChanges.h"
#include "llvm/ADT/STLExtras.h"
#include <thread>

using namespace llvm;

namespace foretrace::python {

FrontendOptions JobSource::options() const {
  FrontendOptions Options;
  Options.Overrides = Overrides;
  Options.ImportPaths = ImportPaths;
  Options.Pool = Pool;
  Options.OnlyModel = IsModel;
  Options.IsOfModel = [Is = IsModel](ArrayRef<ir::EmitSpec>) { return Is; };
  return Options;
}

CallOutcome outcomeOf(const DiagnosticEngine &Diags,
                      const SourceFiles &Sources) {
  CallOutcome Out;
  raw_string_ostream Lines(Out.Diagnostics), Text(Out.Text);
  showAll(Diags, Sources, *makeJSONClient(Lines));
  if (Diags.hasErrors())
    showAll(Diags, Sources, *makeTextClient(Text));
  return Out;
}

/// Returns whether a block allows errors, which the job then does not have.
static bool allowsErrors(const ir::Spec &Job) {
  return any_of(Job.Emits, [](const ir::EmitSpec &E) {
    const Backend *Format = findBackend(E.Backend);
    DiagnosticEngine Unheard;
    if (Format)
      Format->read(E, Unheard);
    return Unheard.allowsAny();
  });
}

/// Lets \p Ask ask the job, on a thread with a large stack.
CallOutcome
HeldJob::call(function_ref<void(CompiledJob &, std::string &Misuse)> Ask) {
  const std::lock_guard<std::mutex> Lock(Guard);
  const driver::LargeStacks OfThreads;
  CallOutcome Out;
  std::thread([&] {
    if (!Job) {
      if (Of.Text)
        Session.setText(Of.Path, *Of.Text);
      Job = &Session.read(Of.Path, Of.options());
    }
    std::string Misuse;
    if (Job->spec())
      Ask(*Job, Misuse);
    Out = outcomeOf(Job->engine(), Session.sources());
    Out.Misuse = std::move(Misuse);
    if (Job->engine().hasErrors()) {
      Session.forget(*Job);
      Job = nullptr;
    } else {
      Job->engine() = Job->engine().cloneEmpty();
    }
  }).join();
  return Out;
}

CallOutcome HeldJob::compile() {
  return call([&](CompiledJob &Job, std::string &) {
    if (!Of.IsModel && !allowsErrors(*Job.spec()))
      Job.program();
  });
}

/// Returns the requested blocks with all their options; errors in these are in
/// the diagnostics.
std::vector<ir::EmitSpec> HeldJob::blocksOf(const BlockRequest &Asked,
                                            CompiledJob &Job) {
  std::vector<ir::EmitSpec> Blocks;
  if (Asked.ReadsJob)
    Blocks = driver::selectEmits(Job.spec()->Emits, Asked.Backends);
  else
    for (const std::string &Name : Asked.Backends)
      Blocks.push_back(ir::EmitSpec::plain(Name));
  if (Blocks.empty())
    Job.engine().report({}, diag::NothingToEmit);
  for (ir::EmitSpec &Block : Blocks) // by itself it goes to standard output
    if (Block.Backend == "ir" && !Block.Options.find("file"))
      Block.set("file", ir::Attribute::Kind::Text,
                stemOfJob(Of.Path) + ".ftir");
  if (Asked.Options.empty())
    return Blocks;
  const std::optional<ir::EmitSpec> Given =
      Session.readEmit(Asked.Backends.front(), Asked.Options, Job.engine());
  if (!Given)
    return {};
  for (ir::EmitSpec &Block : Blocks)
    for (const ir::NamedAttribute &Option : Given->Options.Fields)
      Block.set(Option.Name, Option.Value);
  return Blocks;
}

/// Returns the options to emit blocks of a job.
static driver::EmitterOptions emitterOptions(Compiler &Session,
                                             const JobSource &Of) {
  driver::EmitterOptions Options =
      start::offerChanges(Session, Of.Path, Of.options());
  Options.Stem = stemOfJob(Of.Path);
  Options.IsQuiet = true;
  return Options;
}

CallOutcome HeldJob::emit(const BlockRequest &Asked, MemoryOutputs &To) {
  return call([&](CompiledJob &Job, std::string &) {
    driver::EmitterOptions Options = emitterOptions(Session, Of);
    Options.Into = &To;
    Options.Writing.MaxBytes = To.maxBytes();
    driver::Emitter Emitter(std::move(Options), Session.sources(),
                            Job.engine());
    Emitter.emitJob(Job, blocksOf(Asked, Job));
  });
}

CallOutcome HeldJob::emit(const BlockRequest &Asked, const std::string &Folder,
                          uint64_t MaxBytes, std::vector<std::string> &Paths) {
  return call([&](CompiledJob &Job, std::string &) {
    driver::EmitterOptions Options = emitterOptions(Session, Of);
    Options.To.Folder = Folder;
    Options.Writing.MaxBytes = MaxBytes;
    driver::Emitter Emitter(std::move(Options), Session.sources(),
                            Job.engine());
    Emitter.emitJob(Job, blocksOf(Asked, Job));
    Emitter.commit();
    for (const FileOutputs::File &F : Emitter.files())
      Paths.push_back(F.Path.str());
  });
}

CallOutcome HeldJob::explain(const explain::Query &Asked, Explanation &To) {
  return call([&](CompiledJob &Job, std::string &Misuse) {
    const ir::Program *P = driver::programFor(Job, Asked.Backend);
    if (!P)
      return;
    Expected<Subjects> Found = explain::explain(*P, Asked);
    if (!Found) {
      Misuse = toString(Found.takeError());
      return;
    }
    raw_string_ostream JSON(To.JSON), Text(To.Text);
    explain::printJSON(*Found, Session.sources(), JSON);
    explain::printText(*Found, Session.sources(), Text);
  });
}

} // namespace foretrace::python
