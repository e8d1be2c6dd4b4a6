// SPDX-License-Identifier: Apache-2.0
//
// The whole plan of a job as one JSON document, `foretrace.json/2`, which
// docs/json.md describes. It is folded, as the program is: its size does not
// depend on ranks, layers and micro-batches.
#pragma once

#include "analysis/ClusterMap.h"
#include "backends/figures/Figures.h"
#include "ir/model/Measure.h"
#include "llvm/Support/JSON.h"

namespace foretrace {

/// Facts that a plan needs.
ir::FactSet factsOfPlan();
/// Returns whether all numbers of a plan are below 2^63; reports if not.
bool checkPlan(const ir::Program &P, DiagnosticEngine &Diags);

/// Writes the numbers of a document: plain ones, unless a page also says where
/// they come from.
class NumberWriter {
public:
  virtual ~NumberWriter();
  /// \p Value, as \p From, of the document's sizes, says; if it is valid.
  virtual void write(llvm::json::OStream &J, __int128 Value, ir::ExprId From);
};

class PlanDocument {
public:
  /// The program of \p Of is checked.
  explicit PlanDocument(JobFigures &Of);

  /// Writes the document, an object. \p Job is the name of the job.
  void write(llvm::StringRef Job, llvm::json::OStream &J, NumberWriter &N);
  /// Derivations of numbers. It grows as they are written.
  const ir::ExprTable &sizes() const { return P.Sizes; }

private:
  void number(llvm::StringRef Key, ir::Expr Of);
  void number(llvm::StringRef Key, __int128 Value, ir::ExprId From);
  void attribute(llvm::StringRef Key, FigureUnit Unit, const Figure &Is);
  void row(const FigureTable &T, llvm::ArrayRef<Figure> Row);
  void table(const FigureTable &T);
  void model();
  void train();
  void serve();
  void parallel();
  void group(const ir::ProcessGroup &G);
  void cluster(const ir::ClusterSpec &C);
  void blocks();
  FigureTable chunks();
  void schedule();
  void figures();

  ir::ExprScope P;
  JobFigures &Of;
  std::optional<ClusterMap> Map;
  llvm::json::OStream *J = nullptr; ///< that is written to
  NumberWriter *N = nullptr;
};

} // namespace foretrace
