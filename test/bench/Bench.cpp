// SPDX-License-Identifier: Apache-2.0
//
// Times the parts of the compiler: parsing in bytes per second, the passes,
// and the rate at which a table is written.
#include "backends/Backends.h"
#include "frontend/Frontend.h"
#include "frontend/Parse.h"
#include "ir/model/SpecKeys.h"
#include "ir/verify/Verify.h"
#include "passes/PassManager.h"
#include "passes/Structure.h"
#include "tools/compiler/CompiledJob.h"
#include "tools/compiler/Compiler.h"
#include "tools/sweep/Engine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <benchmark/benchmark.h>

using namespace foretrace;

namespace {
/// Counts what is written and keeps nothing.
class CountingStream final : public OutputStream {
public:
  CountingStream() { SetBufferSize(1 << 20); }
  ~CountingStream() override { flush(); }

private:
  void write_impl(const char *, size_t Size) override { Count += Size; }
  uint64_t current_pos() const override { return Count; }
  uint64_t Count = 0;
};

class CountingOutputs final : public OutputSet {
public:
  llvm::Error
  addAll(uint64_t Count, llvm::function_ref<std::string(uint64_t)>,
         llvm::function_ref<void(uint64_t, OutputStream &)> Write) override {
    for (uint64_t I = 0; I != Count; ++I) {
      CountingStream OS;
      Write(I, OS);
      Bytes += OS.tell();
    }
    return llvm::Error::success();
  }
  uint64_t Bytes = 0;
};
} // namespace

static ir::Program compileJob(SourceFiles &Sources, const char *Path,
                              DiagnosticEngine &Diags) {
  FrontendOptions Options;
  Options.ImportPaths = {FORETRACE_LIBRARY};
  ParsedFiles Files(Sources);
  ir::Program P;
  P.Spec = *compileSpec(Files, Path, Options, Diags);
  return P;
}

static void parse(benchmark::State &State) {
  std::string Text;
  std::string Block = "model m {\n  vocab = 50257  hidden = 96 * 128\n"
                      "  attention gqa { heads = 96  kv_heads = 8 }\n"
                      "  ffn { intermediate = 4 * 12288 activation = swiglu }\n"
                      "  layers = 3 * dense + 58 * moe\n}\n";
  while (Text.size() < static_cast<size_t>(State.range(0)))
    Text += Block;
  for (auto _ : State) {
    SourceFiles Sources;
    DiagnosticEngine Diags;
    const FileId File = Sources.add(Text, "bench.fore");
    benchmark::DoNotOptimize(parseFore(Sources.text(File), Diags));
  }
  State.SetBytesProcessed(State.iterations() *
                          static_cast<int64_t>(Text.size()));
}
BENCHMARK(parse)->Arg(2 << 10)->Arg(1 << 20)->Unit(benchmark::kMillisecond);

static void frontend(benchmark::State &State) {
  for (auto _ : State) {
    SourceFiles Sources;
    DiagnosticEngine Diags;
    benchmark::DoNotOptimize(
        compileJob(Sources, FORETRACE_EXAMPLES "/gpt-175b.fore", Diags));
  }
}
BENCHMARK(frontend)->Unit(benchmark::kMicrosecond);

static void passes(benchmark::State &State) {
  SourceFiles Sources;
  DiagnosticEngine Diags;
  const ir::Program Job =
      compileJob(Sources, FORETRACE_EXAMPLES "/gpt-175b.fore", Diags);
  auto Pipeline = pipelineFor(
      {ir::Fact::Stages, ir::Fact::Sync, ir::Fact::Costs, ir::Fact::Recompute});
  for (auto _ : State) {
    ir::Program P = Job;
    benchmark::DoNotOptimize(runPasses(P, Pipeline, Diags, {}));
  }
}
BENCHMARK(passes)->Unit(benchmark::kMicrosecond);

/// The same for a job whose structure is known.
static void passesOfKnown(benchmark::State &State) {
  SourceFiles Sources;
  DiagnosticEngine Diags;
  const ir::Program Job =
      compileJob(Sources, FORETRACE_EXAMPLES "/gpt-175b.fore", Diags);
  const PassRunner Run =
      [](ir::Program &P, llvm::ArrayRef<const PassInfo *> Passes,
         DiagnosticEngine &D) { return runPasses(P, Passes, D, {}); };
  StructureCache Structures;
  for (auto _ : State) {
    CompiledJob Other(Run, Structures, Job.Spec, Diags.cloneEmpty());
    benchmark::DoNotOptimize(Other.program({ir::Fact::Sync, ir::Fact::Costs}));
  }
}
BENCHMARK(passesOfKnown)->Unit(benchmark::kMicrosecond);

/// What is done before anything is emitted.
static void verify(benchmark::State &State, const char *Path) {
  SourceFiles Sources;
  DiagnosticEngine Diags;
  ir::Program P = compileJob(Sources, Path, Diags);
  runPasses(P, pipelineFor({ir::Fact::Scheduled, ir::Fact::Sync}), Diags, {});
  for (auto _ : State)
    if (!ir::verify(P, Diags))
      State.SkipWithError("the program is wrong");
}
BENCHMARK_CAPTURE(verify, gpt_175b, FORETRACE_EXAMPLES "/gpt-175b.fore")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(verify, mixtral, FORETRACE_EXAMPLES "/mixtral-8x7b.fore")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(verify, llama_405b, FORETRACE_EXAMPLES "/llama3.1-405b.fore")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(verify, deepseek_v3, FORETRACE_BENCH "/deepseek-v3.fore")
    ->Unit(benchmark::kMicrosecond);

/// The keys of a sweep: two numbers for each, legal both.
static std::vector<std::pair<ir::Key, std::array<int64_t, 2>>>
axesOf(const ir::Spec &S) {
  auto Row = [&](const Located<int64_t> &F, int64_t Other) {
    return std::pair(ir::keyOf(S, F), std::array<int64_t, 2>{*F, Other});
  };
  const ir::TrainSpec &T = S.Train;
  return {Row(T.MicroBatch, *T.MicroBatch * 2),
          Row(T.Sequence, *T.Sequence / 2),
          Row(T.GlobalBatch, *T.GlobalBatch * 2),
          Row(S.Parallel.World, *S.Parallel.World * 2),
          Row(S.Model.Vocab, *S.Model.Vocab * 2)};
}

static Structure structureOf(const char *Path) {
  SourceFiles Sources;
  DiagnosticEngine Diags;
  ir::Program P = compileJob(Sources, Path, Diags);
  runPasses(P, pipelineFor({ir::Fact::Totalled}), Diags, {});
  return *Structure::of(P);
}

/// Returns the figures of all kinds of ranks.
static ir::ExprCode totalsOf(const Structure &Of) {
  std::vector<ir::ExprId> Wanted;
  for (const ir::Stage &S : Of.program().Stages) {
#define STAGE_TOTAL(MEMBER, ...) Wanted.push_back(S.Totals.MEMBER.Id);
#include "ir/model/Totals.def"
    for (const ir::GroupBytes &G : S.Totals.Messages)
      Wanted.push_back(G.Size.Id);
  }
  return {Of.program().Sizes, Wanted};
}

/// Checks one more job of a known structure.
static void evaluateRow(benchmark::State &State, const char *Path) {
  const Structure S = structureOf(Path);
  StructureRow Row(S);
  const auto Axes = axesOf(S.program().Spec);
  unsigned Job = 0;
  for (auto _ : State) {
    ++Job;
    for (size_t A = 0; A < Axes.size(); ++A)
      Row.set(Axes[A].first, Axes[A].second[Job >> A & 1]);
    if (Row.check() != Verdict::Accepted)
      State.SkipWithError("the job is refused");
  }
  State.counters["steps"] = static_cast<double>(S.legality().steps().size());
}
BENCHMARK_CAPTURE(evaluateRow, gpt_175b, FORETRACE_EXAMPLES "/gpt-175b.fore")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(evaluateRow, deepseek_v3,
                  FORETRACE_BENCH "/deepseek-v3.fore")
    ->Unit(benchmark::kMicrosecond);

/// Evaluates a block of such jobs, with the figures of all kinds of ranks.
static void evaluateColumns(benchmark::State &State, const char *Path) {
  const Structure S = structureOf(Path);
  const ir::ExprCode Figures = totalsOf(S);
  StructureColumns Columns(S, Figures);
  constexpr size_t Size = StructureColumns::BlockSize;
  for (const auto &[Index, Axis] : llvm::enumerate(axesOf(S.program().Spec)))
    for (size_t Job = 0; Job < Size; ++Job)
      Columns.column(Axis.first)[Job] = Axis.second[Job >> Index & 1];
  for (auto _ : State) {
    Columns.run(Size);
    if (Columns.verdict(Size - 1) != Verdict::Accepted)
      State.SkipWithError("the job is refused");
  }
  State.SetItemsProcessed(State.iterations() * static_cast<int64_t>(Size));
}
BENCHMARK_CAPTURE(evaluateColumns, gpt_175b,
                  FORETRACE_EXAMPLES "/gpt-175b.fore")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(evaluateColumns, deepseek_v3,
                  FORETRACE_BENCH "/deepseek-v3.fore")
    ->Unit(benchmark::kMicrosecond);

/// Points a second of a sweep over 12 million of GPT-175B, or over some of
/// DeepSeek-V3, on as many threads as the argument says.
static void sweepJob(benchmark::State &State, const char *Job,
                     const char *Axes) {
  SweepRequest Request = sweep::makeRequest();
  Request.File = Axes;
  Compiler Session;
  DiagnosticEngine Diags;
  std::optional<SweepSpec> Spec = Session.readSweep(Job, {}, Request, Diags);
  if (!Spec)
    return State.SkipWithError("the axes are refused");
  const sweep::Sweep S = {
      Job, {}, {}, llvm::cantFail(sweep::Space::make(std::move(*Spec)))};
  int64_t Accepted = 0;
  for (auto _ : State)
    sweep::Engine(S).run({}, static_cast<unsigned>(State.range(0)),
                         [&](int64_t, const sweep::Tally &T) {
                           Accepted += static_cast<int64_t>(T.Accepted.size());
                           return true;
                         });
  State.SetItemsProcessed(State.iterations() * S.Space.size());
  State.counters["accepted"] = static_cast<double>(Accepted);
}
BENCHMARK_CAPTURE(sweepJob, gpt_175b, FORETRACE_EXAMPLES "/gpt-175b.fore",
                  FORETRACE_BENCH "/gpt-175b-axes.toml")
    ->Arg(1)
    ->Arg(2)
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sweepJob, deepseek_v3, FORETRACE_BENCH "/deepseek-v3.fore",
                  FORETRACE_BENCH "/deepseek-v3-axes.toml")
    ->Arg(1)
    ->Arg(2)
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

static void table(benchmark::State &State) {
  SourceFiles Sources;
  DiagnosticEngine Diags;
  ir::Program P = compileJob(Sources, FORETRACE_LARGE, Diags);
  const ir::EmitSpec Emit = P.Spec.Emits.front();
  const auto Block = findBackend("simai")->read(Emit, Diags);
  runPasses(P, pipelineFor(Block->needs()), Diags, {});
  int64_t Bytes = 0;
  for (auto _ : State) {
    CountingOutputs Outputs;
    if (Block->emit({P, Emit, "large"}, Outputs))
      State.SkipWithError("the table can't be written");
    Bytes += static_cast<int64_t>(Outputs.Bytes);
  }
  State.SetBytesProcessed(Bytes);
}
BENCHMARK(table)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
