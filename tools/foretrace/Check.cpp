// SPDX-License-Identifier: Apache-2.0
//
// `foretrace check`: holds the traces of a real run against the job.
#include "backends/megatron/Matcher.h"
#include "ir/Ranks.h"
#include "passes/PassManager.h"
#include "tools/foretrace/JobOptions.h"
#include "tools/foretrace/LineReader.h"
#include "tools/foretrace/Messages.h"
#include "tools/foretrace/TraceFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <map>

using namespace llvm;

namespace foretrace {

using megatron::Dialect;
using megatron::Divergence;
using megatron::Instrumentation;
using megatron::Matcher;
using megatron::Skeleton;

enum class CheckFormat { Text, JSON };

static cl::list<std::string>
    Traces("trace", cl::value_desc("folder|file"), cl::CommaSeparated,
           cl::desc("The trace of a rank, or a folder with one *.txt a rank"),
           cl::cat(jobCategory()), cl::sub(checkCommand()));

static cl::opt<CheckFormat> Format(
    "format", cl::desc("How to print divergences:"),
    cl::values(clEnumValN(CheckFormat::Text, "text", "a line each (default)"),
               clEnumValN(CheckFormat::JSON, "json", "an object a line")),
    cl::init(CheckFormat::Text), cl::cat(outputCategory()),
    cl::sub(checkCommand()));

static cl::opt<unsigned>
    Limit("limit", cl::value_desc("n"), cl::init(10),
          cl::desc("Print so many divergences of a trace; the rest is counted "
                   "(default: 10)"),
          cl::cat(outputCategory()), cl::sub(checkCommand()));

namespace {

/// A trace file and the rank it is of.
struct Trace {
  std::string Path;
  int64_t Rank;
};

class Checker {
public:
  Checker(const ir::Program &P, const SourceMgr &Sources,
          std::vector<Trace> Files)
      : P(P), Sources(Sources), Files(std::move(Files)),
        Map(P.Mesh, *P.Spec.Parallel.RankOrder) {}

  ExitCode run();

private:
  Instrumentation recognize() const;
  bool looksScaling() const;
  size_t count(Instrumentation How) const;
  Error hold(const Trace &File, const Skeleton &Plan, int64_t MaxRows,
             const Matcher::Reporter &Report,
             function_ref<void(const Matcher &)> Done) const;
  int64_t stageOf(int64_t Rank) const {
    return Map.coordinate(Rank, ir::Axis::Pp);
  }
  int64_t maxReceived() const;
  void check(const Trace &File, const Skeleton &Plan);
  void checkReceived();
  void checkFiles(bool Scaling);
  void print(const Trace &File, const Divergence &D) const;
  void printSummary(Instrumentation How) const;
  std::string describe(SourceRange Range) const;

  const ir::Program &P;
  const SourceMgr &Sources;
  const std::vector<Trace> Files;
  const ir::RankMap Map;
  int64_t NumRows = 0, NumIterations = 0, NumDivergences = 0;
  std::map<int64_t, std::vector<int64_t>> Received; ///< by rank
};

} // namespace

/// Rows that a rank can get from its expert group for one micro-batch.
int64_t Checker::maxReceived() const {
  const ir::Spec &S = P.Spec;
  int64_t TopK = 0;
  for (const ir::BlockSpec &B : S.Model.Blocks)
    if (B.Moe)
      TopK = std::max(TopK, *B.Moe->TopK);
  return *S.Train.Sequence / *S.Parallel.Cp * *S.Train.MicroBatch * TopK *
         *S.Parallel.Ep;
}

/// Takes up to \p MaxRows rows of a file.
Error Checker::hold(const Trace &File, const Skeleton &Plan, int64_t MaxRows,
                    const Matcher::Reporter &Report,
                    function_ref<void(const Matcher &)> Done) const {
  Expected<LineReader> Lines = LineReader::open(File.Path);
  if (!Lines)
    return Lines.takeError();
  const std::vector<megatron::Row> Rows = Plan.rows(stageOf(File.Rank));
  Matcher M(Rows, File.Rank, P.Spec.Parallel.Schedule.Range, maxReceived(),
            Report);
  megatron::SeenRow Seen;
  while (Lines->line() < MaxRows) {
    Expected<std::optional<StringRef>> Line = Lines->next();
    if (!Line)
      return createFileError(File.Path, Line.takeError());
    if (!*Line)
      break;
    if ((*Line)->trim().empty())
      continue;
    if (Error E = megatron::parseRow(**Line, Seen)) {
      std::string Text = toString(std::move(E));
      if (Lines->isCutOff())
        Text += "; the file was cut off";
      Report({Lines->line(), "malformed", std::move(Text), {}});
      continue;
    }
    M.take(Seen, Lines->line());
  }
  M.finish(Lines->line());
  Done(M);
  return Error::success();
}

/// How much the first traces differ from what \p How would leave.
size_t Checker::count(Instrumentation How) const {
  constexpr size_t MaxFiles = 4;
  constexpr int64_t MaxRows = 512;
  const Skeleton Plan(P, How);
  size_t Count = 0;
  for (const Trace &File : ArrayRef(Files).take_front(MaxFiles))
    consumeError(hold(
        File, Plan, MaxRows, [&](const Divergence &) { ++Count; },
        [](const Matcher &) {}));
  return Count;
}

/// No schedule places the steps of a scaling run.
bool Checker::looksScaling() const {
  Expected<LineReader> Lines = LineReader::open(Files.front().Path);
  if (!Lines) {
    consumeError(Lines.takeError());
    return false;
  }
  for (megatron::SeenRow Row;;) {
    Expected<std::optional<StringRef>> Line = Lines->next();
    if (!Line || !*Line) {
      consumeError(Line.takeError());
      return false;
    }
    if (Error E = megatron::parseRow(**Line, Row))
      consumeError(std::move(E));
    else if (Row.Op == "forward_step")
      return Row.State == "None";
  }
}

/// The instrumentation that the traces fit best; the first of equals.
Instrumentation Checker::recognize() const {
  const bool Scaling = looksScaling();
  Instrumentation Best;
  size_t Least = SIZE_MAX;
  for (Dialect D : {Dialect::V2, Dialect::V1, Dialect::V2b})
    if (size_t N = count({D, Scaling}); N < Least) {
      Least = N;
      Best = {D, Scaling};
    }
  return Best;
}

std::string Checker::describe(SourceRange Range) const {
  unsigned Buffer =
      Range.isValid() ? Sources.FindBufferContainingLoc(Range.Start) : 0;
  if (Buffer == 0)
    return "";
  auto [Line, Column] = Sources.getLineAndColumn(Range.Start, Buffer);
  return (Sources.getMemoryBuffer(Buffer)->getBufferIdentifier() + ":" +
          Twine(Line) + ":" + Twine(Column))
      .str();
}

void Checker::print(const Trace &File, const Divergence &D) const {
  const std::string From = describe(D.Expected);
  if (Format == CheckFormat::Text) {
    outs() << File.Path << ':' << D.Line << ": rank " << File.Rank << ": "
           << D.Text << " [" << D.Kind << "]";
    if (!From.empty())
      outs() << "\n  planned by " << From;
    outs() << '\n';
    return;
  }
  json::OStream J(outs());
  J.object([&] {
    J.attribute("file", json::fixUTF8(File.Path));
    J.attribute("line", D.Line);
    J.attribute("rank", File.Rank);
    J.attribute("kind", D.Kind);
    J.attribute("message", json::fixUTF8(D.Text));
    if (!From.empty())
      J.attribute("planned_by", json::fixUTF8(From));
  });
  J.flush();
  outs() << '\n';
}

void Checker::check(const Trace &File, const Skeleton &Plan) {
  unsigned Printed = 0;
  int64_t Count = 0;
  auto Report = [&](const Divergence &D) {
    ++Count;
    if (Printed++ < Limit)
      print(File, D);
  };
  Error E = hold(File, Plan, INT64_MAX, Report, [&](const Matcher &M) {
    NumIterations = std::max(NumIterations, M.iterations());
    NumRows += M.taken();
    Received[File.Rank] = M.received().vec();
  });
  if (E)
    Report({0, "unreadable", toString(std::move(E)), {}});
  if (Printed > Limit && Format == CheckFormat::Text)
    outs() << File.Path << ": " << Printed - Limit << " more\n";
  NumDivergences += Count;
}

/// Together the ranks of an expert group receive all rows that were sent.
void Checker::checkReceived() {
  for (const Trace &File : Files) {
    if (Map.coordinate(File.Rank, ir::Axis::Ep) != 0)
      continue;
    std::vector<int64_t> Sum;
    bool IsWhole = true;
    Map.forEachMember(File.Rank, {ir::Axis::Ep}, [&](int64_t Member) {
      const std::vector<int64_t> &Rows = Received[Member];
      IsWhole &= !Rows.empty() && (Sum.empty() || Sum.size() == Rows.size());
      Sum.resize(std::max(Sum.size(), Rows.size()));
      for (size_t I = 0; I < Rows.size(); ++I)
        Sum[I] += Rows[I];
    });
    auto Wrong = find_if(Sum, [&](int64_t N) { return N != maxReceived(); });
    if (!IsWhole || Wrong == Sum.end())
      continue;
    ++NumDivergences;
    print(File, {0, "received-sum",
                 ("the ranks of its expert group receive " + Twine(*Wrong) +
                  " rows in call " + Twine(Wrong - Sum.begin()) + " of " +
                  Twine(Sum.size()) + "; they send " + Twine(maxReceived()))
                     .str(),
                 P.Spec.Parallel.Ep.Range});
  }
}

/// A run leaves one trace a rank; a scaling run is as many runs as traces.
void Checker::checkFiles(bool Scaling) {
  if (Scaling)
    return;
  for (size_t I = 1; I < Files.size(); ++I)
    if (Files[I].Rank == Files[I - 1].Rank) {
      ++NumDivergences;
      print(Files[I],
            {0,
             "mixed-runs",
             "there is another trace of this rank, " + Files[I - 1].Path,
             {}});
    }
}

void Checker::printSummary(Instrumentation How) const {
  static constexpr StringLiteral Spellings[] = {
#define DIALECT(ENUMERATOR, SPELLING, DOC) SPELLING,
#include "backends/megatron/Dialects.def"
  };
  StringRef Name = Spellings[static_cast<unsigned>(How.Dialect)];
  if (Format == CheckFormat::JSON) {
    json::OStream J(outs());
    J.object([&] {
      J.attribute("ranks", static_cast<int64_t>(Files.size()));
      J.attribute("rows", NumRows);
      J.attribute("iterations", NumIterations);
      J.attribute("dialect", Name);
      J.attribute("scaling", How.Scaling);
      J.attribute("divergences", NumDivergences);
    });
    J.flush();
    outs() << '\n';
    return;
  }
  const int64_t World = *P.Spec.Parallel.World;
  if (static_cast<int64_t>(Files.size()) < World)
    outs() << "no trace of " << World - static_cast<int64_t>(Files.size())
           << " of " << World << " ranks\n";
  outs() << Files.size() << " ranks, " << NumRows << " rows, " << NumIterations
         << " iterations of dialect " << Name
         << (How.Scaling ? " (scaling)" : "") << ": " << NumDivergences
         << " divergences\n";
}

ExitCode Checker::run() {
  const Instrumentation How = recognize();
  const Skeleton Plan(P, How);
  for (const Trace &File : Files)
    check(File, Plan);
  checkFiles(How.Scaling);
  checkReceived();
  printSummary(How);
  return NumDivergences == 0 ? ExitSuccess : ExitDiagnosed;
}

/// The rank that most of the first rows say.
static Expected<int64_t> rankOf(StringRef Path) {
  constexpr size_t MaxRows = 5;
  Expected<LineReader> Lines = LineReader::open(Path);
  if (!Lines)
    return Lines.takeError();
  std::map<int64_t, size_t> Votes;
  for (size_t Rows = 0; Rows < MaxRows;) {
    Expected<std::optional<StringRef>> Line = Lines->next();
    if (!Line)
      return createFileError(Path, Line.takeError());
    if (!*Line)
      break;
    StringRef Text = **Line;
    int64_t Rank;
    if (Text.consume_front("rank:") && !Text.consumeInteger(10, Rank)) {
      ++Votes[Rank];
      ++Rows;
    }
  }
  if (Votes.empty())
    return createFileError(Path, createStringError("no row of a trace"));
  return max_element(Votes, [](const auto &A,
                               const auto &B) { return A.second < B.second; })
      ->first;
}

/// The files of `--trace`, by rank.
static Expected<std::vector<Trace>> findTraces(int64_t World) {
  Expected<std::vector<std::string>> Paths =
      listTraces({Traces.begin(), Traces.end()});
  if (!Paths)
    return Paths.takeError();
  std::vector<Trace> Found;
  for (const std::string &Path : *Paths) {
    Expected<int64_t> Rank = rankOf(Path);
    if (!Rank)
      return Rank.takeError();
    if (*Rank < 0 || *Rank >= World)
      return createFileError(
          Path, createStringError("a trace of rank " + Twine(*Rank) +
                                  "; the job has " + Twine(World)));
    Found.push_back({Path, *Rank});
  }
  sort(Found, [](const Trace &A, const Trace &B) {
    return std::tie(A.Rank, A.Path) < std::tie(B.Rank, B.Path);
  });
  return Found;
}

ExitCode runCheck() {
  if (jobPath().empty() || Traces.empty())
    return usageError("check: a job or its traces are missing, for example "
                      "`foretrace check job.fore --trace run/`");
  SourceMgr Sources;
  DiagnosticEngine Diags;
  ir::Program P;
  if (std::optional<ir::Spec> Spec = readJob(Sources, Diags)) {
    P.Spec = std::move(*Spec);
    runPasses(
        P,
        pipelineFor({ir::Fact::Recompute, ir::Fact::Scheduled, ir::Fact::Sync}),
        Diags, {});
  }
  if (Diags.hasErrors())
    return showMessages(Diags, Sources);
  Expected<std::vector<Trace>> Files = findTraces(*P.Spec.Parallel.World);
  if (!Files) {
    errs() << "foretrace: " << toString(Files.takeError()) << '\n';
    return ExitDiagnosed;
  }
  return Checker(P, Sources, std::move(*Files)).run();
}

} // namespace foretrace
