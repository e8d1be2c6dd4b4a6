// SPDX-License-Identifier: Apache-2.0
//
// What a sweep found, as a page of HTML: its points over two columns with their
// Pareto front, the same points over all axes, and why others are rejected. The
// page needs nothing but a browser.
#pragma once

#include "tools/output/FileOutputs.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <string>

namespace foretrace::sweep {

class PlotData;

/// Columns of the view `points` that a picture is drawn over.
struct PlotColumns {
  /// Reads `x=memory,y=flops`.
  static llvm::Expected<PlotColumns> read(llvm::StringRef Text);

  std::string X, Y;
};

/// Returns the error that no point has the column \p Name.
llvm::Error missingColumn(llvm::StringRef Name);

class Plot {
public:
  /// Opens the database at \p Path, to which a sweep may still write. Fails if
  /// a column is missing, or not a number at every point.
  static llvm::Expected<Plot> open(llvm::StringRef Path, PlotColumns Of);
  Plot(Plot &&) noexcept;
  ~Plot();

  /// Returns the path of the page for the database at \p Path: beside it, with
  /// its stem.
  static std::string pathOf(llvm::StringRef Path);
  const std::string &pagePath() const { return PagePath; }
  /// Writes the page, of what is in the database now. The same bytes for the
  /// same content.
  llvm::Error write(llvm::raw_ostream &OS);

private:
  Plot(std::string PagePath, std::unique_ptr<PlotData> Data);

  std::string PagePath;
  std::unique_ptr<PlotData> Data;
};

/// Writes the page to its place, whole or not at all; reports it unless
/// \p IsQuiet.
llvm::Error writePage(Plot &Of, const OutputOptions &Options,
                      InputFiles Inputs = {});

} // namespace foretrace::sweep
