// SPDX-License-Identifier: Apache-2.0
#include "backends/Backends.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;

llvm::ArrayRef<Backend> foretrace::allBackends() {
  static constexpr bool OfModel = true, WithFigures = true;
  static constexpr Backend Backends[] = {
#define BACKEND(NAMESPACE, NAME, SUMMARY, COMMAND)                             \
  {NAME,     SUMMARY,  !OfModel,         !WithFigures,                         \
   NoChoice, NoChoice, NAMESPACE::Reader},
#define LOCATED(NAMESPACE, NAME, SUMMARY, COMMAND, NEEDED, POSSIBLE)           \
  {NAME, SUMMARY, !OfModel, !WithFigures, NEEDED, POSSIBLE, NAMESPACE::Reader},
#define FIGURES(NAMESPACE, NAME, SUMMARY)                                      \
  {NAME, SUMMARY, !OfModel, WithFigures, ByName, NoChoice, NAMESPACE::Reader},
#define MODEL_FIGURES(NAMESPACE, NAME, SUMMARY)                                \
  {NAME, SUMMARY, OfModel, WithFigures, ByName, NoChoice, NAMESPACE::Reader},
#include "backends/Backends.def"
  };
  return Backends;
}

const Backend *foretrace::findBackend(llvm::StringRef Name) {
  const Backend *Found = llvm::find_if(
      allBackends(), [Name](const Backend &B) { return B.Name == Name; });
  return Found == allBackends().end() ? nullptr : Found;
}

std::string foretrace::backendNames() {
  return llvm::join(
      llvm::map_range(allBackends(), [](const Backend &B) { return B.Name; }),
      ", ");
}
