// SPDX-License-Identifier: Apache-2.0
//
// What other tools call the keys and words of jobs, and keys of theirs that
// jobs do not have: a view of the pages that importers read (lang/import).
#pragma once

#include "frontend/Mapping.h"

namespace foretrace {

/// A row of lang/import/jobs.fore.
struct ForeignName {
  llvm::StringRef Section;     ///< of the page, such as `attention` or `words`
  llvm::StringRef Here;        ///< the name in jobs, unless there is a text
  llvm::StringRef Names, Text; ///< of other tools, and what to use instead

  /// Returns whether \p Here is a key of a section of jobs.
  bool isKey() const {
    return Text.empty() && Section != "sections" && Section != "words" &&
           Section != "metrics";
  }
};

/// Returns all rows. That page is parsed by the first call, those of the
/// formats by the first of fateInJobs(), which only a mistake in a job causes.
llvm::ArrayRef<ForeignName> foreignNames();

/// Returns the row of a section of the page that has the name \p Word, or null.
const ForeignName *findForeignName(llvm::StringRef Section,
                                   llvm::StringRef Word);

/// Returns the answer to the name \p Word of other tools in a job: that of
/// lang/import/jobs.fore, or else that of importers to any input.
Mapping::FateOfKey fateInJobs(llvm::StringRef Word);

} // namespace foretrace
