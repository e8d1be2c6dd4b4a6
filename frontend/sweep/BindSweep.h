// SPDX-License-Identifier: Apache-2.0
//
// The entries of a sweep, wherever they stand, to a SweepSpec.
// Private to the frontend.
#pragma once

#include "frontend/Evaluate.h"
#include "frontend/Import.h"
#include "frontend/sweep/CompileSweep.h"

namespace foretrace {

/// `parallel.tp`; of several keys, with commas.
std::string pathOf(const ast::Name &Key);
std::string pathsOf(const ast::Axis &A);

/// The entries of a sweep, in order. An axis, an aim or a list of kept metrics
/// replaces the same of an earlier source.
class SweepEntries {
public:
  struct Metric {
    ast::Word Name;
    const ast::Expr *Of;
  };

  explicit SweepEntries(DiagnosticEngine &Diags) : Diags(Diags) {}

  /// Adds the entries of a section, which must outlive this.
  void gatherSection(const ast::Section &S);
  /// Adds those of a file of TOML, which \p Table is.
  void gatherTable(const ast::Section &Table, SourceFiles &Sources);
  /// Gives the axis of the key \p Path the one value that -D says.
  void pin(const std::string &Path, SourceText Value);
  /// Adds those of the command line.
  void gatherGiven(llvm::ArrayRef<SweepRequest::Given> Given,
                   SourceFiles &Sources);

  llvm::ArrayRef<const ast::Axis *> axes() const { return Axes.All; }
  llvm::ArrayRef<const ast::Let *> lets() const { return Lets; }
  llvm::ArrayRef<Metric> metrics() const { return Metrics; }
  llvm::ArrayRef<const ast::Clause *> clauses() const { return Clauses.All; }
  bool hasEmits() const { return HasEmits; }

private:
  /// Entries; those from \p First on are of the source that is read.
  template <typename T> struct Sourced {
    std::vector<const T *> All;
    size_t First = 0;
  };

  void beginSource();
  void add(const ast::Axis &A);
  void add(const ast::Clause &C);
  void addFits(const ast::Assignment &A);
  void addTexts(llvm::StringRef Keyword, const ast::Expr &E,
                SourceFiles &Sources);
  void addAxis(llvm::StringRef Path, SourceRange Range,
               llvm::function_ref<SourceRange(llvm::StringRef)> PlaceOf,
               std::vector<ast::Axis::Element> Elements);
  void addAxes(const ast::Section &Table, const std::string &Prefix,
               SourceFiles &Sources);
  void addGiven(llvm::StringRef Flag, SourceText Text);
  const ast::Expr *own(ast::ExprPtr E);

  DiagnosticEngine &Diags;
  Sourced<ast::Axis> Axes;
  Sourced<ast::Clause> Clauses;
  std::vector<const ast::Let *> Lets;
  std::vector<Metric> Metrics;
  bool HasEmits = false;
  /// Axes that were parsed from TOML and the command line.
  std::deque<ast::Axis> OwnAxes;
  std::deque<ast::Clause> OwnClauses;
  std::vector<ast::ExprPtr> OwnExprs;
  std::vector<std::string> Pinned; ///< keys that -D gives
};

class AxisValues;

class SweepBinder {
public:
  /// \p Files are those of the job; \p Main has the section.
  SweepBinder(const JobFile &Main, llvm::ArrayRef<JobFile *> Files,
              Evaluator &Eval, DiagnosticEngine &Diags)
      : Files(Files), Names(&Main.Names), Eval(Eval), Diags(Diags) {
    Eval.setKeyLookup(
        [this](llvm::ArrayRef<ast::Word> Path) { return lookUp(Path); });
  }
  ~SweepBinder() { Eval.setKeyLookup(nullptr); }
  SweepBinder(const SweepBinder &) = delete;
  SweepBinder &operator=(const SweepBinder &) = delete;

  /// Returns the sweep that \p Entries describe; reports errors.
  SweepSpec bind(const SweepEntries &Entries,
                 llvm::ArrayRef<SweepRequest::Metric> Metrics);

private:
  std::optional<ExprValue> lookUp(llvm::ArrayRef<ast::Word> Path);
  bool checkTuples(const ast::Axis &A, llvm::ArrayRef<AxisValues> Values);
  void bindAxis(const ast::Axis &A);
  bool isTaken(llvm::StringRef Name) const;
  bool hasRoom(size_t More, SourceRange Range);
  bool checkKey(const ast::Name &Key, SourceRange Axis);
  void declare(const ast::Name &Key, ExprValue V);
  void bindMetric(const SweepEntries::Metric &M);
  void bindClause(const ast::Clause &C);
  void bindCondition(const ast::Expr &E);
  std::optional<size_t> metricOf(const ast::Expr &E);
  std::optional<SweepSpec::Goal> goalOf(const ast::Expr &E, bool IsLargest);
  void bindKeep(const ast::Expr &E);
  bool bindTop(const ast::Call &C);
  void bindFits(const ast::Expr &E);
  void addCondition(ir::Expr Holds, SourceRange Range, std::string Text);
  void checkConditions();

  llvm::ArrayRef<JobFile *> Files;
  Scope Names;
  Evaluator &Eval;
  DiagnosticEngine &Diags;
  SweepSpec Out;
  unsigned NumKeys = 0;
  bool KnowsAxes = false; ///< all of them: derived keys can be named
  /// By path, of axes.
  std::vector<std::pair<std::string, ExprValue>> Keys;
  std::vector<std::string> MetricNames; ///< by number
};

} // namespace foretrace
