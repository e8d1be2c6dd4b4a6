// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/FormatOption.h"

using namespace llvm;

namespace foretrace {

FormatOption::FormatOption(cl::SubCommand &Of, StringRef Doc)
    : FormatOption(Of, Doc, "table|json|csv|md") {}

FormatOption::FormatOption(cl::SubCommand &Of, StringRef Doc, StringRef Words)
    : cl::opt<RowFormat>(
          "format", cl::desc(Doc), cl::value_desc(Words),
          cl::values(clEnumValN(RowFormat::Table, Words.split('|').first,
                                "for people (default)"),
                     clEnumValN(RowFormat::JSON, "json", "for programs"),
                     clEnumValN(RowFormat::CSV, "csv", "RFC 4180"),
                     clEnumValN(RowFormat::Markdown, "md", "for a page")),
          cl::init(RowFormat::Table), cl::cat(outputCategory()), cl::sub(Of)) {}

} // namespace foretrace
