// SPDX-License-Identifier: Apache-2.0
//
// Steps that can be taken back.
#pragma once

#include <string>
#include <system_error>

namespace foretrace {

/// The result of a step.
struct Exchange {
  std::error_code Failed; ///< then all is as it was, unless Stranded
  bool HasOld = false;    ///< the old file is where the new one came from
  /// Path of the old files if a failed step could not be undone.
  std::string Stranded;
};

/// Puts the file \p From in place of \p To, and what is there, if anything, to
/// where it was. At no moment there is nothing at \p To, unless the file system
/// has neither exchanges nor hard links.
Exchange exchange(const std::string &From, const std::string &To);

/// Flushes the entries of a folder to disk; empty: the working directory.
std::error_code syncFolder(const std::string &Path);

} // namespace foretrace
