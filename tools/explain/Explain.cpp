// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/Explain.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::explain {

bool Query::isEmpty() const {
  return Op.empty() && Parameter.empty() && !Memory && !Messages && !Work &&
         Backend.empty();
}

namespace {

// Which of what a backend writes is meant, as bits.
enum : unsigned { Rank = 1, Row = 2, Node = 4, Stage = 8 };

struct Choice {
  unsigned Bit;
  StringLiteral Name;
  std::optional<int64_t> Query::*Given;
};
constexpr Choice Choices[] = {
    {Rank, "--rank", &Query::Rank},
    {Row, "--row", &Query::Row},
    {Node, "--node", &Query::Node},
    {Stage, "--stage", &Query::Stage},
};

/// Writers of what is explained.
struct Written {
  StringLiteral Backend;
  unsigned Needed, Possible; ///< choices
  Expected<Subjects> (*Explain)(const ir::Program &, const Query &);
};

} // namespace

static constexpr Written Writers[] = {
    {"simai", Row, Stage,
     [](const ir::Program &P, const Query &Q) {
       return explainSimaiRow(P, *Q.Row, Q.Stage);
     }},
    {"plan", Row, 0,
     [](const ir::Program &P, const Query &Q) {
       return explainPlanRow(P, *Q.Row);
     }},
    {"params", Row, 0,
     [](const ir::Program &P, const Query &Q) {
       return explainParamsRow(P, *Q.Row);
     }},
    {"megatron", Rank | Row, 0,
     [](const ir::Program &P, const Query &Q) {
       return explainMegatronRow(P, *Q.Rank, *Q.Row);
     }},
    {"chakra", Rank | Node, 0,
     [](const ir::Program &P, const Query &Q) {
       return explainChakraNode(P, *Q.Rank, *Q.Node);
     }},
    {"goal", Rank | Node, 0,
     [](const ir::Program &P, const Query &Q) {
       return explainGoalTask(P, *Q.Rank, *Q.Node);
     }},
};

static unsigned choicesOf(const Query &Q) {
  unsigned Bits = 0;
  for (const Choice &C : Choices)
    if (Q.*C.Given)
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
  std::vector<std::string> Known;
  for (const Written &W : Writers) {
    Known.push_back(("`" + W.Backend + "`").str());
    if (W.Backend != Asked.Backend)
      continue;
    const unsigned Given = choicesOf(Asked);
    if ((Given & W.Needed) == W.Needed && !(Given & ~(W.Needed | W.Possible)))
      return W.Explain(P, Asked);
    return createStringError(
        "explain: `--emit " + W.Backend + "` needs " + list(W.Needed) +
        (W.Possible ? ", and may have " + list(W.Possible) : ""));
  }
  return createStringError("--emit: `" + Asked.Backend +
                           "` is not explained; " + join(Known, ", ") + " are");
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
  if (Asked.Row || Asked.Node || Asked.Rank)
    return createStringError("explain: --row, --node and --rank are of --emit");
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
