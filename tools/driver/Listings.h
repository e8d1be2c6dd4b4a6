// SPDX-License-Identifier: Apache-2.0
//
// What there is, a line each, from the tables and from the library.
#ifndef FORETRACE_TOOLS_DRIVER_LISTINGS_H
#define FORETRACE_TOOLS_DRIVER_LISTINGS_H

#include "llvm/Support/raw_ostream.h"

namespace foretrace::driver {

void listPasses(llvm::raw_ostream &OS);
void listBackends(llvm::raw_ostream &OS);
void listDiagnostics(llvm::raw_ostream &OS);
/// What a job can import.
void listModels(llvm::raw_ostream &OS);
void listClusters(llvm::raw_ostream &OS);

} // namespace foretrace::driver

#endif
