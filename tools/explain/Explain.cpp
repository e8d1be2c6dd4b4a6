// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/Explain.h"

using namespace llvm;

namespace foretrace::explain {

bool Query::isEmpty() const {
  return Op.empty() && Parameter.empty() && !Memory && !Messages &&
         Backend.empty();
}

static Expected<Subjects> explainEmitted(const ir::Program &P,
                                         const Query &Asked) {
  if (Asked.Backend == "simai") {
    if (!Asked.Row || Asked.Node || Asked.Rank)
      return createStringError("explain: `--emit simai` needs --row, and may "
                               "have --stage");
    return explainSimaiRow(P, *Asked.Row, Asked.Stage);
  }
  if (Asked.Backend == "chakra") {
    if (!Asked.Rank || !Asked.Node || Asked.Row || Asked.Stage)
      return createStringError("explain: `--emit chakra` needs --rank and "
                               "--node");
    return explainChakraNode(P, *Asked.Rank, *Asked.Node);
  }
  return createStringError("--emit: `" + Asked.Backend +
                           "` is not explained; `simai` and `chakra` are");
}

Expected<Subjects> explain(const ir::Program &P, const Query &Asked) {
  const int Count = !Asked.Op.empty() + !Asked.Parameter.empty() +
                    Asked.Memory + Asked.Messages + !Asked.Backend.empty();
  if (Count != 1)
    return createStringError("explain: say one of --op, --param, --memory, "
                             "--messages and --emit");
  if (!Asked.Backend.empty())
    return explainEmitted(P, Asked);
  if (Asked.Row || Asked.Node || Asked.Rank)
    return createStringError("explain: --row, --node and --rank are of --emit");
  if (Asked.Memory)
    return explainMemory(P, Asked.Stage);
  if (Asked.Messages)
    return explainMessages(P, Asked.Stage);
  if (Asked.Stage)
    return createStringError("explain: --stage is of --memory, --messages and "
                             "`--emit simai`");
  return Asked.Op.empty() ? explainParameters(P, Asked.Parameter)
                          : explainOps(P, Asked.Op);
}

} // namespace foretrace::explain
