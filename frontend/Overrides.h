// SPDX-License-Identifier: Apache-2.0
//
// What -D says of a job. Private to the frontend.
#pragma once

#include "frontend/Body.h"
#include "ir/model/Spec.h"

namespace foretrace {

struct GivenOverrides {
  std::vector<Override> Keys;       ///< a param has no section
  ast::Word Cluster;                ///< of `-D cluster=h100`; may be empty
  std::vector<ast::ExprPtr> Values; ///< symbols and Keys point to them
};

/// Reads \p Lines, `name=value` each, with values in the scope \p Names. What
/// is malformed is reported and left out.
GivenOverrides readOverrides(llvm::ArrayRef<std::string> Lines,
                             const Scope &Names, SourceFiles &Sources,
                             DiagnosticEngine &Diags);

/// Gives the cluster that -D names in \p S the nodes that its ranks need,
/// unless -D gives their number, too.
void fitNodes(const GivenOverrides &Given, ir::Spec &S);

} // namespace foretrace
