// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/Explain.h"
#include "backends/Backends.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::explain {

bool Query::isEmpty() const {
  return Op.empty() && Parameter.empty() && !Memory && !Messages && !Work &&
         Backend.empty();
}

namespace {

// Which of what a backend writes is meant, as bits.
enum : unsigned { Rank = 1, Row = 2, Node = 4, Stage = 8, Cell = 16 };

struct Choice {
  unsigned Bit;
  StringLiteral Name;
  bool (*IsGiven)(const Query &);
};
constexpr Choice Choices[] = {
    {Rank, "--rank", [](const Query &Q) { return Q.Rank.has_value(); }},
    {Row, "--row", [](const Query &Q) { return Q.Row.has_value(); }},
    {Node, "--node", [](const Query &Q) { return Q.Node.has_value(); }},
    {Stage, "--stage", [](const Query &Q) { return Q.Stage.has_value(); }},
    {Cell, "--figure", [](const Query &Q) { return Q.Cell.has_value(); }},
};

/// How what a backend writes is explained.
struct Written {
  unsigned Needed, Possible; ///< choices
  Expected<Subjects> (*Explain)(const ir::Program &, const Query &);
};

struct Writer {
  StringLiteral Backend;
  Written As;
};

} // namespace

static constexpr Writer Writers[] = {
    {"simai",
     {Row, Stage,
      [](const ir::Program &P, const Query &Q) {
        return explainSimaiRow(P, *Q.Row, Q.Stage);
      }}},
    {"plan",
     {Row, 0,
      [](const ir::Program &P, const Query &Q) {
        return explainPlanRow(P, *Q.Row);
      }}},
    {"megatron",
     {Rank | Row, 0,
      [](const ir::Program &P, const Query &Q) {
        return explainMegatronRow(P, *Q.Rank, *Q.Row);
      }}},
    {"chakra",
     {Rank | Node, 0,
      [](const ir::Program &P, const Query &Q) {
        return explainChakraNode(P, *Q.Rank, *Q.Node);
      }}},
    {"goal",
     {Rank | Node, 0,
      [](const ir::Program &P, const Query &Q) {
        return explainGoalTask(P, *Q.Rank, *Q.Node);
      }}},
};

/// Of all backends that write figures.
static constexpr Written OfFigures = {
    Cell, 0, [](const ir::Program &P, const Query &Q) {
      return explainFigure(P, Q.Backend, *Q.Cell);
    }};

static const Written *findWritten(StringRef Backend) {
  for (const Writer &W : Writers)
    if (W.Backend == Backend)
      return &W.As;
  const auto *Known = findBackend(Backend);
  return Known && Known->HasFigures ? &OfFigures : nullptr;
}

std::vector<StringRef> explainedBackends() {
  std::vector<StringRef> Known;
  for (const auto &B : allBackends())
    if (findWritten(B.Name))
      Known.push_back(B.Name);
  return Known;
}

static unsigned choicesOf(const Query &Q) {
  unsigned Bits = 0;
  for (const Choice &C : Choices)
    if (C.IsGiven(Q))
      Bits |= C.Bit;
  return Bits;
}

/// `--rank and --row`.
static std::string list(unsigned Bits) {
  std::vector<StringRef> Names;
  for (const Choice &C : Choices)
    if (Bits & C.Bit)
      Names.push_back(C.Name);
  return join(Names, " and ");
}

static Expected<Subjects> explainWritten(const ir::Program &P,
                                         const Query &Asked) {
  const Written *W = findWritten(Asked.Backend);
  if (!W)
    return createStringError("--emit: `" + Asked.Backend +
                             "` is not explained; `" +
                             join(explainedBackends(), "`, `") + "` are");
  const unsigned Given = choicesOf(Asked);
  if ((Given & W->Needed) == W->Needed && !(Given & ~(W->Needed | W->Possible)))
    return W->Explain(P, Asked);
  return createStringError(
      "explain: `--emit " + Asked.Backend + "` needs " + list(W->Needed) +
      (W->Possible ? ", and may have " + list(W->Possible) : ""));
}

Expected<Subjects> explain(const ir::Program &P, const Query &Asked) {
  const int Count = !Asked.Op.empty() + !Asked.Parameter.empty() +
                    Asked.Memory + Asked.Messages + Asked.Work +
                    !Asked.Backend.empty();
  if (Count != 1)
    return createStringError("explain: say one of --op, --param, --memory, "
                             "--messages, --work and --emit");
  if (!Asked.Backend.empty())
    return explainWritten(P, Asked);
  if (Asked.Row || Asked.Node || Asked.Rank || Asked.Cell)
    return createStringError(
        "explain: --row, --node, --rank and --figure are of --emit");
  if (Asked.Memory)
    return explainMemory(P, Asked.Stage);
  if (Asked.Messages)
    return explainMessages(P, Asked.Stage);
  if (Asked.Work)
    return explainWork(P, Asked.Stage);
  if (Asked.Stage)
    return createStringError("explain: --stage is of --memory, --messages, "
                             "--work and `--emit simai`");
  return Asked.Op.empty() ? explainParameters(P, Asked.Parameter)
                          : explainOps(P, Asked.Op);
}

} // namespace foretrace::explain
