// SPDX-License-Identifier: Apache-2.0
//
// `accounting = exact`: the table of one pipeline stage as the IR derives it.
#pragma once

#include "backends/simai/Options.h"
#include "backends/simai/Table.h"
#include "ir/model/Program.h"
#include "lang/Diagnostic.h"
#include "llvm/ADT/SetVector.h"
#include <map>
#include <set>
#include <string>

namespace foretrace::simai {

/// Collectives that the tables of a request leave out, by cause: a group that
/// the simulator doesn't know, or a kind of collective that it doesn't.
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
  std::map<std::string, Cause> Causes; ///< by their common part
};

/// The whole iteration of \p S: synchronisation, then every micro-batch.
/// Adds what the format can't express to \p Lost, as missing in \p File.
WorkloadTable exactTable(const ir::Program &P, const ir::Stage &S,
                         llvm::StringRef File, LeftOut &Lost);

/// Returns the bytes of a message between stages as the table of \p S has them:
/// those of what the first chunk sends forward, or the last stage receives.
int64_t stageMessageBytes(const ir::Program &P, const ir::Stage &S);

/// The stages that \p Choice means; the worst is the one with the longest
/// compute time, then the most bytes. Empty after an error.
std::vector<const ir::Stage *> chosenStages(const ir::Program &P,
                                            const StageChoice &Choice,
                                            DiagnosticEngine &Diags);

} // namespace foretrace::simai
