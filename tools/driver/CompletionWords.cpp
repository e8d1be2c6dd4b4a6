// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/CompletionWords.h"
#include "backends/Backends.h"
#include "passes/PassManager.h"
#include "tools/driver/Listings.h"

using namespace llvm;

namespace foretrace::driver {

template <typename TableT> static std::vector<StringRef> names(TableT &&Rows) {
  std::vector<StringRef> Names;
  for (const auto &Row : Rows)
    Names.push_back(Row.Name);
  return Names;
}

std::vector<CompletionWords> completionWords() {
  // Options of the command line that stand for one of an `emit` block.
  static constexpr struct {
    StringLiteral Command, Option, Backend, Of;
  } EmitOptions[] = {{"compile", "level", "ir", "level"},
                     {"convert", "ranks", "chakra", "ranks"},
                     {"plan", "comms", "schedule", "comms"},
                     {"plan", "format", "plan", "format"},
                     {"plan", "time", "schedule", "time"}};
  std::vector<CompletionWords> All;
  for (const auto &Row : EmitOptions)
    All.push_back({Row.Command, Row.Option,
                   findBackend(Row.Backend)->findOption(Row.Of)->Words()});
  const std::vector<StringRef> Passes = names(allPasses());
  All.push_back({"compile", "emit", names(allBackends())});
  All.push_back({"compile", "print-after", Passes});
  All.push_back({"completion", "", {"bash", "zsh"}});
  All.push_back({"list", "", listingNames()});
  All.push_back({"opt", "passes", Passes});
  All.push_back({"opt", "print-after", Passes});
  return All;
}

} // namespace foretrace::driver
