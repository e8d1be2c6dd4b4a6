// SPDX-License-Identifier: Apache-2.0
//
// A file that somebody else writes, for the time of a step.
#pragma once

#include "tools/output/Leftover.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace foretrace {

/// Removes the file at a path when it is destroyed, or when a signal or an
/// error ends the process; no matter if there is none.
class LeftoverFile final : public Leftover {
public:
  explicit LeftoverFile(llvm::StringRef Path) : Path(Path) {
    const SignalHold Hold;
    expect();
  }
  ~LeftoverFile() {
    const SignalHold Hold;
    remove();
    forget();
  }

  llvm::StringRef path() const { return Path; }

private:
  void remove() noexcept override;

  const std::string Path;
};

} // namespace foretrace
