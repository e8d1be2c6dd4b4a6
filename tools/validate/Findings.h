// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a set of files, told once however many ranks have it.
// Files may be megabytes without a line, so a place is a line or a node, not a
// range of a buffer.
#pragma once

#include "lang/DiagnosticClient.h"
#include <map>

namespace foretrace::validate {

/// Returns the effect of a defect on the readers of the format, from
/// Defects.def. Empty for a note.
llvm::StringRef effectOf(diag::Id Id);

/// A place in a file: a line of a text, from 1, or a node.
struct Place {
  std::string Path;
  int64_t Line = 0;             ///< 0: of no line
  std::optional<uint64_t> Node; ///< its id
};

/// One defect.
struct Finding {
  diag::Id Id;
  DiagnosticArguments Arguments;
  Place First;
  int64_t InFile = 1; ///< how often the first file has it
  int64_t Files = 1;  ///< that have it
};

/// Collects defects. Those with the same message are one finding; of those with
/// the same slug the first few are kept and the rest is counted.
class Findings {
public:
  template <typename... Ts>
  void report(const Place &At, diag::Id Id, const Ts &...Args) {
    Finding F{Id, {}, At};
    (addArgument(F.Arguments, Args), ...);
    add(std::move(F));
  }
  /// Adds the findings of files after those of this.
  void merge(const Findings &Later);

  bool hasErrors() const { return NumErrors != 0; }
  /// Distinct defects, those that were only counted included.
  int64_t errorCount() const { return NumErrors; }
  int64_t warningCount() const { return NumWarnings; }
  /// Shows them in the order they were found, with the effect of each.
  void show(DiagnosticClient &To) const;
  /// Returns the columns that a client of rows prints.
  static std::vector<RowColumn> columns();

private:
  void add(Finding F);

  std::vector<Finding> Kept;
  /// The kept findings of a slug, and the number of further ones.
  struct Slug {
    std::vector<size_t> Kept;
    int64_t More = 0;
  };
  std::map<diag::Id, Slug> Slugs;
  int64_t NumErrors = 0, NumWarnings = 0;
};

} // namespace foretrace::validate
