// SPDX-License-Identifier: Apache-2.0
//
// Shows diagnostics: as text for people, as objects or rows for programs, as
// SARIF for viewers of results. Whatever is found, in a job, in a table or in
// the traces of a run, is shown by one of these clients.
#pragma once

#include "lang/Diagnostic.h"
#include "lang/RowWriter.h"
#include "lang/SourceFiles.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>

namespace foretrace {

/// Receives diagnostics one after the other.
class DiagnosticClient {
public:
  virtual ~DiagnosticClient();

  /// Shows \p D, whose ranges are of \p Sources.
  virtual void show(const Diagnostic &D, const SourceFiles &Sources) = 0;
  /// Ends the output after the last diagnostic.
  virtual void finish() {}
};

/// Shows every diagnostic of \p Diags in order of file and position, each at
/// most once, and how many more there were.
void showAll(const DiagnosticEngine &Diags, const SourceFiles &Sources,
             DiagnosticClient &To);

struct TextStyle {
  bool HasColors = false;
  /// Whether artifacts' findings say `error:`. Those of a check are all errors.
  bool HasLevels = true;
};

/// Prints the line of a source with carets, notes and fix-its; of an artifact
/// its place, and notes on lines beneath it.
std::unique_ptr<DiagnosticClient> makeTextClient(llvm::raw_ostream &OS,
                                                 TextStyle Style = {});

/// Prints one JSON object a line: slug, severity, message, arguments, file,
/// line, column, end, properties, notes, fixits. Columns are 1-based bytes.
std::unique_ptr<DiagnosticClient> makeJSONClient(llvm::raw_ostream &OS);

/// Prints a row each. A column is `file`, `line`, `severity`, `slug`,
/// `message`, a property, or a note by its slug.
std::unique_ptr<DiagnosticClient> makeRowClient(std::vector<RowColumn> Columns,
                                                RowFormat As,
                                                llvm::raw_ostream &OS);

/// Prints a log in the Static Analysis Results Interchange Format, OASIS,
/// version 2.1.0.
std::unique_ptr<DiagnosticClient> makeSarifClient(llvm::raw_ostream &OS);

enum class DiagnosticFormat : unsigned char {
  Text,
  JSON,
  CSV,
  Markdown,
  Sarif
};

/// Makes the client of a format. Text has \p Style, and rows \p Columns.
std::unique_ptr<DiagnosticClient>
makeClient(DiagnosticFormat As, llvm::raw_ostream &OS, TextStyle Style = {},
           std::vector<RowColumn> Columns = {});

/// `0-3, 8` of numbers in order.
std::string joinRanges(llvm::ArrayRef<int64_t> Numbers);

/// \p Text as a terminal or a table can show it: control characters and what is
/// no UTF-8 as `\1B`.
std::string printable(llvm::StringRef Text);

} // namespace foretrace
