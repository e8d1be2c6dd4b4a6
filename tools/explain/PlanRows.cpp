// SPDX-License-Identifier: Apache-2.0
//
// A row of the first table of `plan`. backends/plan sums up chunks; the second
// table is of whole stages (Stages.cpp).
#include "analysis/LayerCounts.h"
#include "backends/plan/Rows.h"
#include "lang/NumberText.h"
#include "tools/explain/Explain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::explain {

namespace {

class PlanExplainer {
public:
  /// \p Rows are those of \p Of.
  PlanExplainer(const ir::Program &Of, const plan::Rows &Rows)
      : P(Of, ir::ExprTable(&Rows.Sizes)), Make(Of.Spec, P.Sizes), Rows(Rows) {}

  Subject row(int64_t Index);
  Subject balance(int64_t Index);

private:
  using Weighed = function_ref<ir::ExprId(const plan::WeightExprs &)>;
  Figure share(const plan::Row &R);
  Figure imbalance(std::string What, int64_t Permille, StringRef Unit,
                   Weighed Weigh);

  ir::ExprOverlay P;
  const FigureMaker Make;
  const plan::Rows &Rows;
};

} // namespace

static std::string nameOf(StringRef What, plan::Range R) {
  return (What + (R.Count == 1 ? " " : "s ")).str() +
         printRange(R.First, R.Count, "..");
}

/// Rounded to the nearest.
static Derivation permille(std::vector<Operand> PartOfWhole) {
  return makeDerivation("floor($0*1000+floor($1,2),$1)",
                        std::move(PartOfWhole));
}

Figure PlanExplainer::share(const plan::Row &R) {
  ir::Expr All = ir::numberOf(P, 0);
  for (const plan::Row &Other : Rows.All)
    All += ir::Expr(P.Sizes, Other.From.Work.Id) *
           (Other.Stages.Count * Other.Chunks.Count);
  return {"share of all flops", shareOfWork(R, Rows.All), "thousandths",
          permille({Make.part("flops", R.From.Work.Id, "FLOPs"),
                    Make.part("all", All, "FLOPs")})};
}

Subject PlanExplainer::row(int64_t Index) {
  const plan::Row &R = Rows.All[static_cast<size_t>(Index - 1)];
  Subject S{formatv("row {0}, {1}, {2}: {3}", Index, nameOf("stage", R.Stages),
                    nameOf("chunk", R.Chunks), describe(*R.Layers, P)),
            {P->Spec.Model.LayersRange, "stages", ""},
            {}};
  S.Figures = {Make.make("parameters", R.From.Parameters),
               Make.make("parameter_bytes", R.From.ParameterBytes),
               Make.make("kept_activation_bytes", R.From.Activations),
               Make.make("flops", R.From.Work),
               share(R),
               Make.make("sent_bytes", R.SentFrom)};
  return S;
}

/// The largest stage of the mean.
Figure PlanExplainer::imbalance(std::string What, int64_t Permille,
                                StringRef Unit, Weighed Weigh) {
  ir::Expr All = ir::numberOf(P, 0), Largest = All, Stage = All;
  for (const auto &[Index, R] : enumerate(Rows.All)) {
    const ir::Expr Chunks = ir::Expr(P.Sizes, Weigh(R.From)) * R.Chunks.Count;
    Stage = R.Chunks.First == 0 ? Chunks : Stage + Chunks;
    All += Chunks * R.Stages.Count;
    if (Stage.value() > Largest.value())
      Largest = Stage;
  }
  const ir::Expr AsMany = Largest * ir::exprOf(P, P->Spec.Parallel.Pp);
  return {std::move(What), Permille, "thousandths",
          permille({Make.part("largest", AsMany, Unit),
                    Make.part("all", All, Unit)})};
}

Subject PlanExplainer::balance(int64_t Index) {
  return {
      formatv("row {0}, the largest stage of the mean", Index),
      {P->Spec.Model.LayersRange, "stages", ""},
      {imbalance("parameters", Rows.ParameterImbalance, "elements",
                 [](const plan::WeightExprs &W) { return W.Parameters.Id; }),
       imbalance("flops", Rows.WorkImbalance, "FLOPs",
                 [](const plan::WeightExprs &W) { return W.Work.Id; })}};
}

Expected<Subjects> explainPlanRow(const ir::Program &P, int64_t Row) {
  const plan::Rows Rows = plan::makeRows(P);
  if (Rows.IsOverflow)
    return createStringError("--emit: a stage is larger than can be counted");
  const auto Count = static_cast<int64_t>(Rows.All.size());
  if (Row < 1 || Row > Count + 1)
    return createStringError(
        formatv("--row: the table has {0} rows, from 1, and a line below them",
                Count)
            .str());
  PlanExplainer Explainer(P, Rows);
  return Subjects{Row > Count ? Explainer.balance(Row) : Explainer.row(Row)};
}

} // namespace foretrace::explain
