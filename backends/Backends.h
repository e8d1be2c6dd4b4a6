// SPDX-License-Identifier: Apache-2.0
//
// All backends, and what each declares, from Backends.def.
#pragma once

#include "backends/Backend.h"

namespace foretrace {

/// All backends, in the order of Backends.def.
llvm::ArrayRef<Backend> allBackends();
/// The backend with that name, or null.
const Backend *findBackend(llvm::StringRef Name);
/// Returns the names of all backends, for diagnostics.
std::string backendNames();

// The folder of each row defines the struct of its options, their table, which
// OptionRows and Reader hold, and functions that take them; of the last four,
// those that its row names. Backend.h documents the functions and where they
// are defined.
#define BACKEND(NAMESPACE, NAME, SUMMARY, COMMAND)                             \
  namespace NAMESPACE {                                                        \
  struct Options;                                                              \
  extern const EmitOption OptionRows[];                                        \
  extern const EmitReader Reader;                                              \
  ir::FactSet needs(const Options &);                                          \
  bool check(const EmitRequest &, const Options &, DiagnosticEngine &);        \
  llvm::Error emit(const EmitRequest &, const Options &, OutputSet &);         \
  Figures figures(const EmitRequest &, const Options &);                       \
  std::string showCommand(const EmitRequest &, const Options &,                \
                          llvm::StringRef File);                               \
  llvm::Expected<std::vector<Subject>>                                         \
  locate(const EmitRequest &, const Options &, const CellQuery &);             \
  }
#include "backends/Backends.def"

} // namespace foretrace
