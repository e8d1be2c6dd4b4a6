// SPDX-License-Identifier: Apache-2.0
//
// What follows `-W` on a command line, for LLVM's CommandLine.
#pragma once

#include "lang/WarningOption.h"
#include "llvm/Support/CommandLine.h"

namespace foretrace::driver {

class WarningParser : public llvm::cl::basic_parser<WarningOption> {
public:
  explicit WarningParser(llvm::cl::Option &O) : basic_parser(O) {}
  llvm::StringRef getValueName() const override { return "what"; }
  bool parse(llvm::cl::Option &O, llvm::StringRef, llvm::StringRef Text,
             WarningOption &W) {
    llvm::Expected<WarningOption> Read = parseWarningOption(Text);
    if (!Read)
      return O.error(llvm::toString(Read.takeError()));
    W = *Read;
    return false;
  }
};

} // namespace foretrace::driver
