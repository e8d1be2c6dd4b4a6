// SPDX-License-Identifier: Apache-2.0
#include "backends/Backend.h"
#include "backends/aicb/Aicb.h"
#include "backends/astra/Astra.h"
#include "backends/chakra/Chakra.h"
#include "backends/goal/Goal.h"
#include "backends/ir/IR.h"
#include "backends/megatron/Megatron.h"
#include "backends/optimus/Optimus.h"
#include "backends/params/Params.h"
#include "backends/plan/Plan.h"
#include "backends/schedule/Schedule.h"
#include "backends/simai/Simai.h"
#include "backends/simainet/SimaiNet.h"
#include "backends/simgrid/SimGrid.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;

OutputSet::~OutputSet() = default;

llvm::Error
OutputSet::add(llvm::StringRef Path,
               llvm::function_ref<void(llvm::raw_ostream &)> Write) {
  return addAll(
      1, [&](uint64_t) { return Path.str(); },
      [&](uint64_t, llvm::raw_ostream &OS) { Write(OS); });
}

llvm::ArrayRef<Backend> foretrace::allBackends() {
  static constexpr Backend Backends[] = {
#define BACKEND(NAMESPACE, NAME, SUMMARY, COMMAND)                             \
  {NAME,   SUMMARY, NAMESPACE::prepare, NAMESPACE::check, NAMESPACE::emit,     \
   COMMAND},
#include "backends/Backends.def"
  };
  return Backends;
}

bool foretrace::isOfModel(const Backend &B) {
#define BACKEND(...)
#define MODEL_BACKEND(NAMESPACE, NAME, ...)                                    \
  if (B.Name == NAME)                                                          \
    return true;
#include "backends/Backends.def"
  return false;
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
