// SPDX-License-Identifier: Apache-2.0
//
// `--format` of commands that print rows or findings.
#pragma once

#include "lang/DiagnosticClient.h"
#include "llvm/Support/CommandLine.h"

namespace foretrace::driver {

class FormatOption : public llvm::cl::opt<RowFormat> {
public:
  /// \p Doc says what is printed, for the help.
  FormatOption(llvm::cl::SubCommand &Of, llvm::cl::OptionCategory &Category,
               llvm::StringRef Doc);

protected:
  /// \p Words are those of the formats; the first is for people.
  FormatOption(llvm::cl::SubCommand &Of, llvm::cl::OptionCategory &Category,
               llvm::StringRef Doc, llvm::StringRef Words);
};

/// `--exact` of commands that print quantities.
class ExactOption : public llvm::cl::opt<bool> {
public:
  /// \p Of is a subcommand, or a group of them.
  ExactOption(llvm::cl::sub Of, llvm::cl::OptionCategory &Category);
};

/// The format of tables with quantities, which can be exact.
class QuantityFormatOption : public FormatOption {
public:
  QuantityFormatOption(llvm::cl::SubCommand &Of,
                       llvm::cl::OptionCategory &Category, llvm::StringRef Doc)
      : FormatOption(Of, Category, Doc), Exact(llvm::cl::sub(Of), Category) {}
  bool isExact() const { return Exact; }

private:
  ExactOption Exact;
};

/// The format of results that people read as `text` instead of as a table.
class TextFormatOption : public FormatOption {
public:
  TextFormatOption(llvm::cl::SubCommand &Of, llvm::cl::OptionCategory &Category,
                   llvm::StringRef Doc)
      : FormatOption(Of, Category, Doc, "text|json|csv|md") {}
};

/// The format of defects of files and runs.
class FindingFormatOption : public llvm::cl::opt<DiagnosticFormat> {
public:
  FindingFormatOption(llvm::cl::SubCommand &Of,
                      llvm::cl::OptionCategory &Category, llvm::StringRef Doc);
};

} // namespace foretrace::driver
