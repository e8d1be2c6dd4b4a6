// SPDX-License-Identifier: Apache-2.0
//
// What a job amounts to, in numbers: numbers and tables, which each report
// fills and one writer for each format shows.
#pragma once

#include "analysis/Derivation.h"
#include "analysis/DeviceMemory.h"
#include "analysis/Figures.h"
#include "backends/Backend.h"
#include "backends/OptionKinds.h"
#include "lang/NumberText.h"
#include "lang/RowWriter.h"
#include "llvm/Support/JSON.h"
#include <functional>
#include <variant>

namespace foretrace {

/// Around the percentage of a HalfRange, as people read it.
constexpr llvm::StringLiteral BeforeHalfRange = "\u00b1",
                              AfterHalfRange = " (nine of ten runs)";

/// A number, words, or stages that are alike.
struct Figure {
  /// All ranks together may do more than 2^63 FLOPs.
  std::variant<__int128, std::string, IndexRange> Value;
  /// The expression in Figures::Sizes from which a value follows; none for mere
  /// counts. It has no value beyond 2^63.
  std::optional<ir::ExprId> From = std::nullopt;

  Figure(std::string Words) : Value(std::move(Words)) {}
  Figure(IndexRange Stages) : Value(Stages) {}
  Figure(__int128 Number) : Value(Number) {}
  Figure(__int128 Number, ir::ExprId From) : Value(Number), From(From) {}
  Figure(int64_t Number) : Value(static_cast<__int128>(Number)) {}
  /// \p Of, of \p Sizes, which is not beyond 2^63.
  Figure(const ir::ExprTable &Sizes, ir::ExprId Of);

  bool isNumber() const { return std::holds_alternative<__int128>(Value); }
  __int128 number() const { return std::get<__int128>(Value); }
};

/// A number with a name.
struct NamedFigure {
  llvm::StringRef
      Key; ///< for programs: `flops_per_token`; lives as long as the run
  std::string Title; ///< for people
  FigureUnit Unit;
  Figure Value;
  /// Derives it if it is no expression; null if nothing does.
  std::function<Derivation()> Derive = nullptr;
};

struct FigureColumn {
  llvm::StringRef Key; ///< for programs; lives as long as the run
  FigureUnit Unit;
  llvm::StringLiteral Title = ""; ///< for people, if the key is not

  llvm::StringRef heading() const {
    return Title.empty() ? Key : llvm::StringRef(Title);
  }
};

/// Columns of one unit, whose keys are words; with a title it is one column.
struct ColumnGroup {
  FigureUnit Unit;
  llvm::StringLiteral Keys;
  llvm::StringLiteral Title = "";
};
std::vector<FigureColumn> columns(std::initializer_list<ColumnGroup> Groups);

/// Rows of figures; the first columns name what a row is of.
struct FigureTable {
  llvm::StringLiteral Key;
  std::string Title;
  std::vector<FigureColumn> Columns;
  std::vector<std::vector<Figure>> Rows; ///< as many in each as columns
  size_t Names = 1;                      ///< the first columns, all words

  /// Returns the index of the column of that key, which it has.
  size_t columnOf(llvm::StringRef Key) const;
};

/// An answer to a question of a job.
struct Figures {
  /// The form of its JSON, with a version: `foretrace.flops/1`.
  llvm::StringLiteral Schema;
  std::vector<NamedFigure> Named;
  std::vector<FigureTable> Tables;
  std::vector<std::string> Notes; ///< conventions, and what is left out
  ir::ExprTable Sizes;            ///< of the program, and of figures
  /// Memory of a device in bytes, if a rank needs more: changes with which the
  /// job fits can then be searched.
  std::optional<int64_t> ExceededRoom = std::nullopt;
  /// Whether changes that shorten the iteration can be searched.
  bool IsOfTime = false;

  /// The one of that key, or null.
  const NamedFigure *find(llvm::StringRef Key) const;
  /// The table of that key, or null.
  const FigureTable *findTable(llvm::StringRef Key) const;
};

/// Values of the option `format`.
using RowFormatWord = option::WordOf<RowFormats, option::findText>;

/// For terminals and Markdown numbers are rounded, unless they shall be exact;
/// JSON has exact numbers, by keys, and CSV too, one a line: table, row,
/// figure, unit, value.
void write(const Figures &F, RowFormat As, bool IsExact, llvm::raw_ostream &OS);

/// Writes a figure as every JSON document contains it: the exact number, `true`
/// or `false`, words, or the first and the last of the stages.
void writeValue(const Figure &F, FigureUnit U, llvm::json::OStream &J);

/// Writes one table, for people, without its title. Each column has one unit,
/// which its heading names, so that its cells can be compared.
void writeTable(const FigureTable &T, RowFormat As, bool IsExact,
                llvm::raw_ostream &OS);

/// The options that every backend which writes figures has.
struct FigureOptions {
  std::string File; ///< empty: from the job's name
  RowFormat Format = RowFormat::Table;
  bool IsExact = false; ///< a table has all digits
};

/// The only file of a backend, that of \p O or `STEM.BACKEND.EXTENSION`.
llvm::Error addFigures(const EmitRequest &Request, const FigureOptions &O,
                       const Figures &F, OutputSet &Out);

/// Returns whether the time of an iteration can be estimated; reports at \p At
/// what it needs if not. The program has costs and a schedule.
bool checkEstimate(const EmitRequest &Request, SourceRange At,
                   DiagnosticEngine &Diags);

/// Warns if a rank needs more memory than \p Room has for tensors.
void warnIfExceeded(const EmitRequest &Request,
                    const std::optional<DeviceMemory> &Room,
                    DiagnosticEngine &Diags);

/// The cell that names the stages which a row is of.
inline Figure stagesOf(const ir::Stage &S) {
  return IndexRange{S.First, S.Count};
}

/// All its digits.
std::string toString(__int128 Number);

/// Returns all digits of a number, or its words.
std::string exact(const Figure &F);
/// Formats a figure for reading, with its unit: `12.5 MiB`, or `13107200 B`.
std::string describe(const Figure &F, FigureUnit U, bool IsExact = false);

/// Returns the scale of a column of these numbers: its largest number has at
/// least one digit before the point, and four in all; or four before it, so
/// that small numbers have digits, too. Zeros need no unit.
NumberScale scaleOf(FigureUnit U, llvm::ArrayRef<__int128> Column);
/// Returns the scale in which numbers have all their digits.
NumberScale exactScaleOf(FigureUnit U);
/// \p Number without its suffix; `<0.01` for what would be rounded to nothing.
std::string scaled(__int128 Number, const NumberScale &In);

} // namespace foretrace
