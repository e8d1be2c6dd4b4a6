// SPDX-License-Identifier: Apache-2.0
//
// The `report` backend: what a job is and costs as one page of HTML, which
// needs nothing but a browser.
#pragma once

#include "backends/Backends.h"

namespace foretrace::report {

struct Options {
  std::string File; ///< empty: from the job's name
};

/// Writes all that the page shows of a job that was checked: one JSON object,
/// the argument of `render` in main.js.
void writeData(const EmitRequest &Request, llvm::raw_ostream &OS);
/// Writes the page, which draws the object that \p WriteData writes. A page
/// that is open draws another one by `render(data)`.
llvm::Error
writePage(llvm::raw_ostream &OS,
          llvm::function_ref<llvm::Error(llvm::raw_ostream &)> WriteData);

} // namespace foretrace::report
