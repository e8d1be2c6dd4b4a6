// SPDX-License-Identifier: Apache-2.0
//
// Shell scripts as data: what they would pass to a training program. Nothing is
// run.
#pragma once

#include "tools/importers/Importers.h"
#include "tools/importers/readers/ReadArguments.h"

namespace foretrace::importers {

/// The flags that the script \p Text passes on when it gets the words of
/// \p Request after the first, with `world_size` if a launcher says it.
/// Nothing, with an error, if it passes none.
std::optional<ForeignValue> readShell(SourceText Text, ImportRequest &Request);

/// All commands of other programs that the script \p Text starts when it gets
/// the words of \p Request after the first. Nothing, with an error, if it takes
/// too long to follow.
std::optional<std::vector<std::vector<ArgumentWord>>>
readCommands(SourceText Text, ImportRequest &Request);

} // namespace foretrace::importers
