// SPDX-License-Identifier: Apache-2.0
//
// Uses a session as an editor or another program would, and prints what came of
// it; session.test says what must.
#include "passes/PassManager.h"
#include "tools/compiler/Compiler.h"
#include "llvm/Support/raw_ostream.h"

using namespace foretrace;
using llvm::outs;

static constexpr char Llama[] = R"(import "models/llama3-8b.fore"
train { sequence = 4Ki  micro_batch = 1 }
parallel { world = 8  pp = 2 }
)";

static constexpr char Small[] = R"(import "small.fore"
train { sequence = 128  micro_batch = 1 }
parallel { world = 8 }
)";

static std::string modelOf(int Layers) {
  return "model small { vocab = 128  hidden = 64  attention mha { heads = 4 }  "
         "layers = " +
         std::to_string(Layers) + " }\n";
}

static const char *yesOrNo(bool Holds) { return Holds ? "yes" : "no"; }

static int64_t layersOf(CompiledJob &Job) {
  return Job.spec() ? Job.spec()->Model.layerCount() : 0;
}

static void compileText() {
  Compiler Session;
  CompiledJob &Job = Session.compile("job.fore", Llama);
  outs() << "a text in memory with a shipped model: " << layersOf(Job)
         << " layers, " << (Job.program() ? "verified" : "not verified")
         << "\n";
}

/// As an editor does with a file that is not saved.
static void replaceFile() {
  Compiler Session;
  Session.setText("folder/job.fore", Small);
  Session.setText("folder/small.fore", modelOf(4));
  outs() << "a text in place of a file: "
         << layersOf(Session.read("folder/job.fore"));
  Session.setText("folder/small.fore", modelOf(8));
  outs() << " layers, then " << layersOf(Session.read("folder/job.fore"));
  Session.clearText("folder/small.fore");
  const CompiledJob &Job = Session.read("folder/job.fore");
  outs() << ", then " << getDiagnosticInfo(Job.diagnostics().front().Id).Slug
         << "\n";
}

static void shareFiles() {
  Compiler Session;
  Session.setText("one.fore", Small);
  Session.setText("two.fore", Small);
  auto FileOfModel = [&](const char *Path) {
    return Session.read(Path).spec()->Model.Hidden.Range.File;
  };
  Session.setText("small.fore", modelOf(4));
  const FileId First = FileOfModel("one.fore");
  outs() << "two jobs share a file: "
         << yesOrNo(First == FileOfModel("two.fore"));
  Session.setText("small.fore", modelOf(8));
  outs() << "; a changed one is another: "
         << yesOrNo(First != FileOfModel("one.fore")) << "\n";
}

/// A session that notes which passes run.
static PassRunner noteIn(std::string &Ran) {
  return [&Ran](ir::Program &P, llvm::ArrayRef<const PassInfo *> Passes,
                DiagnosticEngine &Diags) {
    for (const PassInfo *Pass : Passes)
      Ran += (" " + Pass->Name).str();
    return runPasses(P, Passes, Diags, {});
  };
}

static void shareRuns() {
  std::string Ran;
  Compiler Session(noteIn(Ran));
  Session.setText("job.fore", Llama);
  CompiledJob &Job = Session.read("job.fore");
  const ir::FactSet Sync = {ir::Fact::Sync}, Blocks = {ir::Fact::Blocks};
  Job.expect(Blocks);
  const ir::Program *First = Job.program(Sync);
  Job.program({ir::Fact::Sync, ir::Fact::Costs});
  Job.program(Blocks);
  outs() << "passes that run for sync, costs, blocks and sync again:" << Ran
         << (First == Job.program(Sync) ? "" : ", and another program") << "\n";
}

/// Jobs that differ in numbers alone.
static void shareStructure() {
  std::string Ran;
  Compiler Session(noteIn(Ran));
  Session.setText("job.fore", Llama);
  auto Compile = [&](const char *World, const char *Tp) {
    FrontendOptions Options;
    Options.Overrides = {std::string("parallel.world=") + World,
                         std::string("parallel.tp=") + Tp};
    Ran.clear();
    const ir::Program *P = Session.read("job.fore", Options).program();
    outs() << "world = " << World << ", tp = " << Tp << ": "
           << (llvm::StringRef(Ran).contains("shard") ? "sharded" : "shared")
           << ", " << (P ? P->Mesh[ir::Axis::Dp] : 0) << " replicas\n";
  };
  Compile("32", "2");
  Compile("64", "4");
  Compile("128", "2");
  Compile("64", "1");
  Compile("16", "8");
}

static void failOnce() {
  std::string Ran;
  Compiler Session(noteIn(Ran));
  CompiledJob &Job =
      Session.compile("job.fore", "import \"models/llama3-8b.fore\"\n"
                                  "train { sequence = 4Ki  micro_batch = 1 }\n"
                                  "parallel { world = 8  tp = 3 }\n");
  Job.program({ir::Fact::Complete});
  Job.program();
  outs() << "a failing pass runs and reports once: "
         << llvm::StringRef(Ran).count("derive") << " run, "
         << Job.engine().errorCount() << " error\n";
  const Diagnostic &D = Job.diagnostics().front();
  outs() << getDiagnosticInfo(D.Id).Slug << ": "
         << std::get<int64_t>(D.Arguments.front()) << " is not a multiple of "
         << std::get<int64_t>(D.Arguments.back()) << "; world stands in line "
         << Session.sources().locate(D.Range.start()).Line << "\n";
}

/// A pass that has a mistake.
static bool loseResults(ir::Program &P, DiagnosticEngine &) {
  P.Blocks[ir::BlockId(0)].Ops[ir::OpId(0)].Results.clear();
  return true;
}

static void verifyEach() {
  static constexpr PassInfo Wrong{"wrong", "", "", {}, {}, loseResults};
  Compiler Session;
  CompiledJob &Job = Session.compile("job.fore", Llama);
  outs() << "a program that a pass breaks goes on:";
  for (const bool IsVerified : {false, true}) {
    ir::Program P = *Job.program();
    DiagnosticEngine Diags;
    PassOptions Options;
    Options.VerifyEach = IsVerified;
    outs() << " " << yesOrNo(runPasses(P, {&Wrong}, Diags, Options));
  }
  outs() << ", not if each is verified\n";
}

static void outliveSession() {
  auto SpecOf = [] {
    Compiler Session;
    Session.setText("job.fore", Llama);
    return *Session.read("job.fore").spec();
  };
  const SourceRange One = SpecOf().Model.Hidden.Range,
                    Other = SpecOf().Model.Hidden.Range;
  outs() << "equal ranges are equal after their session is gone: "
         << yesOrNo(One == Other && hash_value(One) == hash_value(Other) &&
                    One.start() < SourceLocation{One.File, One.End})
         << "\n";
}

int main(int, char **) {
  compileText();
  replaceFile();
  shareFiles();
  shareRuns();
  shareStructure();
  failOnce();
  verifyEach();
  outliveSession();
  return 0;
}
