// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/FormatOption.h"

using namespace llvm;

namespace foretrace::driver {

FormatOption::FormatOption(cl::SubCommand &Of, cl::OptionCategory &Category,
                           StringRef Doc)
    : FormatOption(Of, Category, Doc, "table|json|csv|md") {}

FormatOption::FormatOption(cl::SubCommand &Of, cl::OptionCategory &Category,
                           StringRef Doc, StringRef Words)
    : cl::opt<RowFormat>(
          "format", cl::desc(Doc), cl::value_desc(Words),
          cl::values(clEnumValN(RowFormat::Table, Words.split('|').first,
                                "human-readable (default)"),
                     clEnumValN(RowFormat::JSON, "json", "machine-readable"),
                     clEnumValN(RowFormat::CSV, "csv", "RFC 4180"),
                     clEnumValN(RowFormat::Markdown, "md", "Markdown")),
          cl::init(RowFormat::Table), cl::cat(Category), cl::sub(Of)) {}

ExactOption::ExactOption(cl::sub Of, cl::OptionCategory &Category)
    : cl::opt<bool>("exact",
                    cl::desc("Print all digits in tables, such as 127038148608 "
                             "B in place of 118.3 GiB"),
                    cl::cat(Category), Of) {}

FindingFormatOption::FindingFormatOption(cl::SubCommand &Of,
                                         cl::OptionCategory &Category,
                                         StringRef Doc)
    : cl::opt<DiagnosticFormat>(
          "format", cl::desc(Doc), cl::value_desc("text|json|csv|md|sarif"),
          cl::values(
              clEnumValN(DiagnosticFormat::Text, "text",
                         "human-readable (default)"),
              clEnumValN(DiagnosticFormat::JSON, "json", "one object per line"),
              clEnumValN(DiagnosticFormat::CSV, "csv",
                         "one row per diagnostic, RFC 4180"),
              clEnumValN(DiagnosticFormat::Markdown, "md",
                         "one row per diagnostic, Markdown"),
              clEnumValN(DiagnosticFormat::Sarif, "sarif", "SARIF 2.1.0")),
          cl::init(DiagnosticFormat::Text), cl::cat(Category), cl::sub(Of)) {}

} // namespace foretrace::driver
