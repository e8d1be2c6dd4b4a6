// SPDX-License-Identifier: Apache-2.0
//
// Values of the params of files.
// Private to the frontend.
#pragma once

#include "frontend/Evaluate.h"
#include "frontend/Import.h"
#include "frontend/ParamList.h"

namespace foretrace {

/// Returns the params of \p Units, in which files follow the ones that they
/// import; see listParams.
std::vector<ParamEntry> paramsOf(llvm::ArrayRef<JobFile *> Units,
                                 Evaluator &Eval, const SourceFiles &Sources);

} // namespace foretrace
