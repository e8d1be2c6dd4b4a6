// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/Explain.h"

using namespace llvm;

namespace foretrace::explain {

bool Query::isEmpty() const {
  return Op.empty() && Parameter.empty() && !Memory && !Messages &&
         Backend.empty();
}

Expected<Subjects> explain(const ir::Program &P, const Query &Asked) {
  const int Count = !Asked.Op.empty() + !Asked.Parameter.empty() +
                    Asked.Memory + Asked.Messages + !Asked.Backend.empty();
  if (Count != 1)
    return createStringError("explain: say one of --op, --param, --memory, "
                             "--messages and --emit");
  if (Asked.Row.has_value() == Asked.Backend.empty())
    return createStringError("explain: --emit and --row belong together, for "
                             "example `--emit simai --row 1`");
  if (Asked.Stage && (!Asked.Op.empty() || !Asked.Parameter.empty()))
    return createStringError("explain: --stage is of --memory, --messages and "
                             "--emit");
  if (!Asked.Op.empty())
    return explainOps(P, Asked.Op);
  if (!Asked.Parameter.empty())
    return explainParameters(P, Asked.Parameter);
  if (Asked.Memory)
    return explainMemory(P, Asked.Stage);
  if (Asked.Messages)
    return explainMessages(P, Asked.Stage);
  if (Asked.Backend == "simai")
    return explainSimaiRow(P, *Asked.Row, Asked.Stage);
  return createStringError("--emit: rows of `" + Asked.Backend +
                           "` are not explained; those of `simai` are");
}

} // namespace foretrace::explain
