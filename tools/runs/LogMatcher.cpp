// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/LogMatcher.h"
#include "tools/runs/Fit.h"
#include "tools/runs/TraceReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"
#include <map>
#include <set>

using namespace foretrace;
using namespace foretrace::optimus;
using namespace foretrace::runs;
using llvm::StringRef;

namespace {

class LogMatcher {
public:
  LogMatcher(const PartitionJob &J, StringRef Text,
             llvm::function_ref<void(LogDifference)> Report)
      : J(J), Par(J.Program.Spec.Parallel), Text(Text), Report(Report) {}

  LogSummary run();

private:
  void visit(StringRef Prefix, StringRef Pattern,
             llvm::function_ref<void(size_t, llvm::ArrayRef<StringRef>)> Take);
  void say(StringRef Prefix, StringRef Pattern,
           llvm::ArrayRef<std::string> Expected);
  void configuration();
  void groups();
  void cuts();
  void graph();
  void layers();
  void steps(const std::map<int64_t, std::vector<size_t>> &Headings);

  const PartitionJob &J;
  const ir::ParallelSpec &Par;
  const StringRef Text;
  llvm::function_ref<void(LogDifference)> Report;
  LogSummary Summary;
};

} // namespace

bool foretrace::runs::isLog(StringRef Text) {
  Text = Text.take_front(size_t(1) << 20); // it is printed before any step
  return Text.contains("> Total parameters in model: ") ||
         Text.contains(", num_stage:");
}

/// Blanks and quotes mean nothing in lists and dictionaries.
static std::string plain(StringRef S) {
  std::string Out;
  llvm::copy_if(S, std::back_inserter(Out),
                [](char C) { return C != ' ' && C != '\''; });
  return Out;
}

/// An empty expectation matches any text. After a word the text of another line
/// may follow, so its end is unknown.
static bool isSaid(StringRef Want, StringRef Got) {
  if (Want.empty())
    return true;
  const std::string Expected = plain(Want), Seen = plain(Got);
  return llvm::isAlpha(Expected.back()) ? StringRef(Seen).starts_with(Expected)
                                        : Seen == Expected;
}

/// `12.5ms`, or `?ms` of a plan.
static bool isDuration(StringRef Text) {
  Text = Text.trim();
  return Text.consume_back("ms") &&
         (Text == "?" || whyNoTime(Text.trim(), MaxDuration).empty());
}

/// Visits what \p Pattern captures behind each \p Prefix.
void LogMatcher::visit(
    StringRef Prefix, StringRef Pattern,
    llvm::function_ref<void(size_t, llvm::ArrayRef<StringRef>)> Take) {
  constexpr size_t MaxStatement = size_t(1) << 20;
  const llvm::Regex Behind(("^" + Pattern).str());
  for (size_t At = Text.find(Prefix); At != StringRef::npos;
       At = Text.find(Prefix, At + 1)) {
    llvm::SmallVector<StringRef, 4> Captured;
    StringRef Rest = Text.substr(At + Prefix.size(), MaxStatement);
    Rest = Rest.take_until([](char C) { return C == '\n'; });
    if (Behind.match(Rest, &Captured))
      Take(At, llvm::ArrayRef(Captured).drop_front());
  }
}

/// Compares the text behind each \p Prefix. Reports if there is no such prefix.
void LogMatcher::say(StringRef Prefix, StringRef Pattern,
                     llvm::ArrayRef<std::string> Expected) {
  bool IsSaid = false;
  visit(Prefix, Pattern, [&](size_t At, llvm::ArrayRef<StringRef> Seen) {
    IsSaid = true;
    ++Summary.Statements;
    for (auto [Want, Got] : llvm::zip(Expected, Seen))
      if (!isSaid(Want, Got))
        Report({At, Prefix.trim().str(), Want, Got.str()});
  });
  if (!IsSaid)
    Report(
        {StringRef::npos, Prefix.trim().str(), llvm::join(Expected, ", "), ""});
}

void LogMatcher::configuration() {
  const ir::TrainSpec &Train = J.Program.Spec.Train;
  const std::pair<StringRef, int64_t> Numbers[] = {
      {"> World size: ", *Par.World},
      {"> GAS: ", J.microBatches()},
      {"> GBS: ", *Train.GlobalBatch},
      {"> MBS: ", *Train.MicroBatch},
      {"> TP: ", *Par.Tp},
      {"> DP: ", *Par.Dp},
      {"> PP: ", *Par.Pp},
      {"> World Size: ", *Par.World},
      {"> Pipeline Parallel Size: ", *Par.Pp}};
  say("> Total parameters in model: ", "([0-9,]+)",
      {withCommas(J.Graph.Parameters)});
  for (auto [Prefix, Number] : Numbers)
    say(Prefix, "([0-9]+)", {std::to_string(Number)});
  // Printed if they are larger than 1.
  const std::pair<StringRef, int64_t> Sizes[] = {
      {"> Data Parallel Size: ", *Par.Dp},
      {"> Tensor Parallel Size: ", *Par.Tp}};
  for (auto [Prefix, Number] : Sizes)
    if (Number > 1 || Text.contains(Prefix))
      say(Prefix, "([0-9]+)", {std::to_string(Number)});
  say(">> model class name: ", "([A-Za-z0-9_]+)", {getClass(J.Family).str()});
  say(">> split method: ", "([a-z-]+)", {getName(J.Split).str()});
}

void LogMatcher::groups() {
  say("stage2rank = ", "\\{([^}]*)\\}", {J.ranksOfStages()});
  for (int64_t Rank = 0; Rank < *Par.World; ++Rank)
    say("> [rank:" + std::to_string(Rank) + "] pp group:DeviceMesh('cuda', ",
        "(\\[[0-9, ]*\\])", {list(J.pipelineOf(Rank))});
}

void LogMatcher::cuts() {
  say("length:",
      "([0-9?]+), modcnt:([0-9]+), num_stage:([0-9]+), segment:([0-9]+)",
      {J.Length ? std::to_string(*J.Length) : "",
       std::to_string(J.Graph.Modules), std::to_string(J.stages()),
       std::to_string(J.Graph.Modules / J.stages())});
  say("first metadata_range: ", "\\[([^]]*)\\]", {J.lastNodes()});
  say("second metadata_range: ", "\\[([^]]*)\\]", {J.submodules()});
}

void LogMatcher::graph() {
  for (int64_t S = 0; S < J.stages(); ++S) {
    const PlannedStage &Stage = J.stage(S);
    const std::string &Name = Stage.Name;
    // Python prints a comma after a single argument.
    say("n.name:" + Name + ", n.target:" + Name + ", n.args:",
        "\\(([^)]*[^),]),?\\)", {llvm::join(Stage.Arguments, ", ")});
    for (const SplitNode &N : J.Plan.Nodes)
      if (N.Stage == S && N.Item)
        say("--- key:" + N.Name + ", values:", "\\('([^']*)', ([0-9]+)\\)",
            {Name, std::to_string(*N.Item)});
    if (S > 0)
      say("***** stage:" + std::to_string(S) + " >>  from_:",
          "(getitem_?[0-9]*|submod_[0-9]+), to_:(submod_[0-9]+)",
          {J.firstNodeFor(S).str(), Name});
  }
  // Stages that there are not.
  visit("***** stage:", "([0-9]+) >>",
        [&](size_t At, llvm::ArrayRef<StringRef> Seen) {
          const int64_t S = readCount(Seen[0]).value_or(0);
          if (S < 1 || S >= J.stages())
            Report({At, "***** stage:",
                    "1 to " + std::to_string(J.stages() - 1), Seen[0].str()});
        });
  if (!J.Plan.Special.empty())
    say("special_nodes: ", "\\{([^}]*)\\}", {J.specialNodes()});
}

/// The lines below a heading do not say whose they are: there are as many of
/// each as headings ask for.
void LogMatcher::layers() {
  std::set<int64_t> Steps;
  std::map<int64_t, std::vector<size_t>> Headings;          // by rank
  std::map<std::pair<std::string, int64_t>, int64_t> Lines; // expected - seen
  visit("[rank:",
        "([0-9]+) stage:([0-9]+)\\] transformer-block.* - step "
        "([0-9]+)",
        [&](size_t At, llvm::ArrayRef<StringRef> Seen) {
          const std::optional<int64_t> Rank = readCount(Seen[0]);
          if (!Rank || *Rank >= *Par.World)
            return Report({At, "[rank:", "below " + std::to_string(*Par.World),
                           Seen[0].str()});
          ++Summary.Statements;
          Headings[*Rank].push_back(At);
          if (const std::optional<int64_t> Step = readCount(Seen[2]))
            Steps.insert(*Step);
          else
            Report({At, "- step", "a whole number", Seen[2].str()});
          const int64_t Stage = J.stageOf(*Rank);
          if (Seen[1] != std::to_string(Stage))
            Report({At, "stage of rank " + std::to_string(*Rank),
                    std::to_string(Stage), Seen[1].str()});
          for (const LayerPart &P : J.stage(Stage).Parts)
            ++Lines[{J.keyOf(P), J.calls(P)}];
        });
  visit("layer[", "([a-z0-9_]+)\\]: total=([^,]*), ops=([0-9]+)",
        [&](size_t At, llvm::ArrayRef<StringRef> Seen) {
          ++Summary.Statements;
          const std::string What = "layer[" + Seen[0].str() + "]";
          if (std::optional<int64_t> Ops = readCount(Seen[2]))
            --Lines[{Seen[0].str(), *Ops}];
          else
            Report({At, What + ", ops", "a whole number", Seen[2].str()});
          if (!isDuration(Seen[1]))
            Report({At, What + ", total", "a time in ms", Seen[1].str()});
        });
  steps(Headings);
  Summary.Steps = static_cast<int64_t>(Steps.size());
  for (const auto &[Key, Missing] : Lines)
    if (Missing != 0)
      Report({StringRef::npos,
              "layer[" + Key.first + "], ops=" + std::to_string(Key.second),
              std::to_string(std::max<int64_t>(Missing, 0)) + " more lines",
              std::to_string(std::max<int64_t>(-Missing, 0)) + " too many"});
}

/// Ranks run steps together. The number that most ranks have is right; of
/// equally frequent ones, the larger.
void LogMatcher::steps(const std::map<int64_t, std::vector<size_t>> &Headings) {
  std::vector<size_t> Counts;
  for (const auto &[Rank, Of] : Headings) {
    Summary.Ranks.insert(Rank);
    Counts.push_back(Of.size());
  }
  const size_t Most = commonest(Counts);
  for (const auto &[Rank, Of] : Headings)
    if (Of.size() != Most)
      Report({Of[std::min(Most, Of.size() - 1)],
              "steps of rank " + std::to_string(Rank), std::to_string(Most),
              std::to_string(Of.size())});
}

LogSummary LogMatcher::run() {
  configuration();
  groups();
  cuts();
  graph();
  layers();
  return Summary;
}

LogSummary
foretrace::runs::matchLog(const PartitionJob &J, StringRef Text,
                          llvm::function_ref<void(LogDifference)> Report) {
  return LogMatcher(J, Text, Report).run();
}
