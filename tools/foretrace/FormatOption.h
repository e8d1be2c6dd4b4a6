// SPDX-License-Identifier: Apache-2.0
//
// `--format` of the commands that print rows.
#ifndef FORETRACE_TOOLS_FORMATOPTION_H
#define FORETRACE_TOOLS_FORMATOPTION_H

#include "lang/RowWriter.h"
#include "tools/foretrace/Commands.h"

namespace foretrace {

class FormatOption : public llvm::cl::opt<RowFormat> {
public:
  /// \p Doc says what is printed, for the help.
  FormatOption(llvm::cl::SubCommand &Of, llvm::StringRef Doc);

protected:
  /// \p Words are those of the formats; the first is for people.
  FormatOption(llvm::cl::SubCommand &Of, llvm::StringRef Doc,
               llvm::StringRef Words);
};

/// Of results that are more to people than a table: `text` in its place.
class TextFormatOption : public FormatOption {
public:
  TextFormatOption(llvm::cl::SubCommand &Of, llvm::StringRef Doc)
      : FormatOption(Of, Doc, "text|json|csv|md") {}
};

} // namespace foretrace

#endif
