// SPDX-License-Identifier: Apache-2.0
//
// The options of `foretrace explain`: what is asked for, and how it is printed.
#pragma once

#include "tools/explain/Explain.h"
#include "tools/explain/Printer.h"
#include <memory>

namespace llvm::cl {
class OptionCategory;
class SubCommand;
} // namespace llvm::cl

namespace foretrace::explain {

/// Registers the options with a subcommand, which must outlive them.
class Options {
public:
  Options(llvm::cl::SubCommand &Of, llvm::cl::OptionCategory &In);
  ~Options();

  /// Returns the subjects that the command line asks for.
  Query asked() const;
  /// Null for a format that there is not.
  PrinterFn *printer() const;

private:
  struct Table;
  std::unique_ptr<Table> Given;
};

} // namespace foretrace::explain
