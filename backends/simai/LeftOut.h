// SPDX-License-Identifier: Apache-2.0
//
// What the tables of a request leave out, reported with its bytes.
#pragma once

#include "ir/model/Program.h"
#include "lang/Diagnostic.h"
#include "llvm/ADT/SetVector.h"
#include <map>
#include <set>
#include <string>

namespace foretrace::simai {

/// Collectives without a word, by cause: a group that the simulator doesn't
/// know, or kinds of collectives that it doesn't.
class LeftOut {
public:
  /// In the table \p File, \p Collective is missing with \p Total bytes over
  /// one iteration of one rank.
  void add(llvm::StringRef File, const ir::Op &Collective, Bytes Total);
  /// One warning for each cause, with the sum over collectives and tables.
  void report(SourceRange Range, DiagnosticEngine &Diags) const;

private:
  struct Cause {
    llvm::SmallSetVector<ir::OpKind, 2> Kinds;
    std::set<std::string> Files;
    Bytes Total;
  };
  std::map<std::string, Cause> Causes; ///< by what they have in common
};

} // namespace foretrace::simai
