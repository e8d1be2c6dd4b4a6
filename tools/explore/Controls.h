// SPDX-License-Identifier: Apache-2.0
//
// The keys of a job as controls of a page, and the values that each of them can
// have while the others stay as they are.
#pragma once

#include "frontend/KeyList.h"
#include "tools/explore/LiveJob.h"

namespace foretrace::explore {

/// A key of a job, or a `param` of its files.
struct Control {
  std::string Path;          ///< as -D has it
  std::string Section, Name; ///< as lists of keys have them; `param`
  /// Of ir/model/Spec.def: `Int`, `Bool`, `Duration`; `Word`, of some; `Text`.
  std::string Type;
  std::string Value;   ///< as in -D
  llvm::StringRef How; ///< `stated`, `default`, `derived`
  SourceRange Range;
  std::vector<std::string> Candidates; ///< other values, from the smallest
};

/// Returns the params of the job \p V, then the keys of \p Derived, what it
/// states with all that follows, that have a value: in the order of
/// ir/model/Spec.def, then layers and the layout of the pipeline.
std::vector<Control> controlsOf(LiveJob &Job, const JobVariant &V,
                                const ir::Spec &Derived);

/// A value of a key, and the reason if the job is refused with it.
struct Candidate {
  std::string Value;
  std::string WhyNot; ///< the first error; empty if the value is legal
};

/// Tries the values of \p C in the job \p V, as far as `derive` decides.
std::vector<Candidate> tryCandidates(LiveJob &Job, const JobVariant &V,
                                     const Control &C);

} // namespace foretrace::explore
