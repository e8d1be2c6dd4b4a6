// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/RunReport.h"
#include "lang/diagnostics/Runs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace foretrace::runs {

void Communicators::take(const TraceFile &Of, const Divergence &D) {
  const ir::ProcessGroup *Group = D.Group;
  if (!Group)
    return;
  std::vector<int64_t> Members = Group->Group.ranks(Map, Of.Rank);
  if (Members.size() == 1)
    return;
  First &F = Found[{Group - ir::allProcessGroups().begin(), Members.front()}];
  if (!F.Group.empty() && F.What.Place <= D.Place)
    return;
  F = {Group->Name, std::move(Members), Of.Path, Of.Rank, D};
}

std::vector<Communicators::First> Communicators::list() const {
  std::vector<First> Out;
  for (const auto &[Key, F] : Found)
    Out.push_back(F);
  return Out;
}

/// Returns a diagnostic without a place in a source, at \p At.
template <typename... Ts>
static Diagnostic makeFinding(diag::Id Id, ArtifactPlace At,
                              const Ts &...Arguments) {
  Diagnostic D{Id, getDiagnosticInfo(Id).Level, {}, {}, {}, {}};
  (addArgument(D.Arguments, Arguments), ...);
  D.At = std::move(At);
  return D;
}

/// Returns the ranks; none for a terminal, which all share.
static std::vector<int64_t> ranksOf(const AlikeTraces &F) {
  std::vector<int64_t> Ranks;
  for (const TraceFile &T : F.Traces)
    if (T.Rank >= 0)
      Ranks.push_back(T.Rank);
  return Ranks;
}

/// `rank 3` or `ranks 0-3, 8`; empty without any.
static std::string describeRanks(ArrayRef<int64_t> Ranks) {
  if (Ranks.empty())
    return "";
  return (Ranks.front() == Ranks.back() ? "rank " : "ranks ") +
         joinRanges(Ranks);
}

/// Programs learn whose traces they are; a first file is the place itself.
static void addTraces(Diagnostic &D, const AlikeTraces &F) {
  if (std::vector<int64_t> Ranks = ranksOf(F); !Ranks.empty())
    D.Properties.push_back({"ranks", std::move(Ranks)});
  if (F.Traces.size() == 1)
    return;
  std::vector<std::string> Files;
  for (const TraceFile &T : F.Traces)
    Files.push_back(T.Path);
  D.Properties.push_back({"files", std::move(Files)});
}

void RunReport::notePlace(Diagnostic &D, SourceRange Why) const {
  if (!Why.isValid())
    return;
  Diagnostic Note{diag::RunPlannedBy, Severity::Note, Why, {}, {}, {}};
  addArgument(Note.Arguments, describePlace(Sources, Why));
  D.Notes.push_back(std::move(Note));
}

void RunReport::add(const AlikeTraces &F) {
  const std::string &Path = F.Traces.front().Path;
  const std::string Ranks = describeRanks(ranksOf(F));
  for (const Divergence &What : F.Divergences) {
    Diagnostic D = makeFinding(What.Kind, {Path, What.Line, Ranks}, What.Text);
    addTraces(D, F);
    if (!What.Expected.empty() || !What.Seen.empty()) {
      D.Properties.push_back({"expected", What.Expected});
      D.Properties.push_back({"seen", What.Seen});
    }
    notePlace(D, What.Why);
    show(D);
  }
  if (F.Omitted == 0)
    return;
  Diagnostic More = makeFinding(diag::RunMore, {Path, {}, Ranks}, F.Omitted,
                                F.Traces.size() > 1 ? " each" : "");
  addTraces(More, F);
  show(More);
}

void RunReport::add(const Communicators::First &F) {
  const auto Words = map_range(F.Ranks, [](int64_t R) { return utostr(R); });
  Diagnostic D =
      makeFinding(diag::RunCommunicator, {}, F.Group, join(Words, " "), F.Path,
                  F.What.Line, F.What.Text);
  D.Properties.push_back({"ranks", F.Ranks});
  show(D);
}

void RunReport::omitCommunicators(size_t Count) {
  show(makeFinding(diag::RunMoreCommunicators, {}, Count));
}

void RunReport::add(const Hint &H) {
  const std::string Left =
      H.Divergences > 0
          ? " (" + std::to_string(H.Divergences) + " divergences are left)"
          : "";
  Diagnostic D = makeFinding(diag::RunHint, {}, H.Key, H.Fits, H.Planned, Left);
  notePlace(D, H.Range);
  show(D);
}

/// `rank 3 of 4` or `ranks 3 and 9-11 of 16`: those that left nothing.
static std::string describeMissing(const CheckSummary &S) {
  constexpr size_t MaxRows = 16; // of ranks; the rest is counted
  std::vector<std::string> Rows;
  int64_t Left = S.World - S.Ranks;
  for (auto [First, Last] : ArrayRef(S.Missing).take_front(MaxRows)) {
    Rows.push_back(joinRanges({First}));
    if (Last > First)
      Rows.back() += "-" + std::to_string(Last);
    Left -= Last - First + 1;
  }
  if (Left > 0)
    Rows.push_back(std::to_string(Left) + " more");
  std::string Text = join(ArrayRef(Rows).drop_back(), ", ");
  Text += (Text.empty() ? "" : " and ") + Rows.back();
  return (S.World - S.Ranks == 1 ? "rank " : "ranks ") + Text + " of " +
         std::to_string(S.World);
}

void RunReport::finish(const CheckSummary &S) {
  if (!S.Missing.empty())
    show(makeFinding(diag::RunMissingTraces, {}, describeMissing(S)));
  Out.finish();
}

std::vector<RowColumn> RunReport::columns() {
  return {{"file"},    {"line", true}, {"ranks"}, {"slug"},
          {"message"}, {"expected"},   {"seen"},  {"planned_by"}};
}

/// Returns the dialect as `emit megatron` spells it.
static StringRef dialectOf(const CheckSummary &S) {
  static constexpr StringLiteral Spellings[] = {
#define DIALECT(ENUMERATOR, SPELLING, DOC) SPELLING,
#include "backends/megatron/Dialects.def"
  };
  return Spellings[static_cast<unsigned>(S.How.Dialect)];
}

void printSummary(const CheckSummary &S, raw_ostream &OS) {
  if (S.IsLog)
    OS << S.Rows << " statements of a log, " << S.Ranks << " ranks, "
       << S.Iterations << " steps";
  else
    OS << S.Ranks << " ranks, " << S.Rows << " rows, " << S.Iterations
       << " iterations of dialect " << dialectOf(S)
       << (S.How.Scaling ? " (scaling)" : "");
  OS << ": " << S.Divergences << " divergences";
  if (S.Tolerated > 0)
    OS << ", " << S.Tolerated << " tolerated";
  OS << '\n';
}

void printSummaryJSON(const CheckSummary &S, raw_ostream &OS) {
  json::OStream J(OS);
  J.object([&] {
    J.attribute("schema", "foretrace.check/1");
    J.attribute("ranks", S.Ranks);
    J.attribute("rows", S.Rows);
    J.attribute("iterations", S.Iterations);
    if (!S.IsLog) {
      J.attribute("dialect", dialectOf(S));
      J.attribute("scaling", S.How.Scaling);
    }
    J.attribute("divergences", S.Divergences);
    J.attribute("tolerated", S.Tolerated);
    if (!S.Missing.empty())
      J.attributeArray("no_trace_of", [&] {
        for (const auto &Row : S.Missing)
          J.array([&] {
            J.value(Row.first);
            J.value(Row.second);
          });
      });
  });
  J.flush();
  OS << '\n';
}

} // namespace foretrace::runs
