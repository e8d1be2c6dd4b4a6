// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/Explain.h"
#include "analysis/Figures.h"
#include "backends/Backends.h"
#include "backends/Locate.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::explain {

bool Query::isEmpty() const {
  return Op.empty() && Parameter.empty() && !Memory && !Messages && !Work &&
         Backend.empty();
}

namespace {

/// An option of the command line that selects a cell.
struct Choice {
  CellChoice Bit;
  StringLiteral Name;
  bool (*IsGiven)(const CellQuery &);
};
constexpr Choice Choices[] = {
    {ByRank, "--rank", [](const CellQuery &Q) { return Q.Rank.has_value(); }},
    {ByRow, "--row", [](const CellQuery &Q) { return Q.Row.has_value(); }},
    {ByNode, "--node", [](const CellQuery &Q) { return Q.Node.has_value(); }},
    {ByStage, "--stage",
     [](const CellQuery &Q) { return Q.Stage.has_value(); }},
    {ByName, "--figure", [](const CellQuery &Q) { return Q.Name.has_value(); }},
};

} // namespace

std::vector<StringRef> explainedBackends(unsigned By) {
  std::vector<StringRef> Known;
  for (const auto &B : allBackends())
    if (By & (B.Needed | B.Possible))
      Known.push_back(B.Name);
  return Known;
}

static unsigned choicesOf(const CellQuery &Q) {
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

/// The first block of \p Job for \p Backend; an empty one if there is none.
static ir::EmitSpec firstBlock(const ir::Spec &Job, StringRef Backend) {
  for (const ir::EmitSpec &E : Job.Emits)
    if (E.Backend == Backend)
      return E;
  return ir::EmitSpec::plain(Backend);
}

/// Asks the backend, about the first of its blocks.
static Expected<Subjects> explainWritten(const ir::Program &P,
                                         const Query &Asked) {
  const auto *Of = findBackend(Asked.Backend);
  if (!Of || Of->Needed == NoChoice)
    return createStringError("--emit: `" + Asked.Backend +
                             "` is not explained; `" +
                             join(explainedBackends(), "`, `") + "` are");
  const unsigned Given = choicesOf(Asked.Cell);
  if ((Given & Of->Needed) != Of->Needed ||
      (Given & ~(Of->Needed | Of->Possible)))
    return createStringError(
        "explain: `--emit " + Asked.Backend + "` needs " + list(Of->Needed) +
        (Of->Possible ? ", and may have " + list(Of->Possible) : ""));
  DiagnosticEngine Diags;
  const ir::EmitSpec Block = firstBlock(P.Spec, Asked.Backend);
  const std::unique_ptr<Emission> Read = Of->read(Block, Diags);
  if (Diags.hasErrors())
    return errorOf("--emit", Diags);
  ir::ExprOverlay Sizes(P);
  JobFigures Figures(Sizes, Validity::ThisJob);
  return Read->locate({P, Figures, Block, ""}, Asked.Cell);
}

Expected<Subjects> explain(const ir::Program &P, const Query &Asked) {
  const int Count = !Asked.Op.empty() + !Asked.Parameter.empty() +
                    Asked.Memory + Asked.Messages + Asked.Work +
                    !Asked.Backend.empty();
  if (Count != 1)
    return createStringError("explain: expected one of --op, --param, "
                             "--memory, --messages, --work and --emit");
  if (!Asked.Backend.empty())
    return explainWritten(P, Asked);
  if (choicesOf(Asked.Cell) & ~ByStage)
    return createStringError(
        "explain: --row, --node, --rank and --figure need --emit");
  if (Asked.Memory)
    return explainMemory(P, Asked.Cell.Stage);
  if (Asked.Messages)
    return explainMessages(P, Asked.Cell.Stage);
  if (Asked.Work)
    return explainWork(P, Asked.Cell.Stage);
  if (Asked.Cell.Stage)
    return createStringError(
        "explain: --stage needs --memory, --messages, --work or `--emit " +
        join(explainedBackends(ByStage), "`, `--emit ") + "`");
  return Asked.Op.empty() ? explainParameters(P, Asked.Parameter)
                          : explainOps(P, Asked.Op);
}

} // namespace foretrace::explain
