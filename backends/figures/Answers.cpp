// SPDX-License-Identifier: Apache-2.0
#include "backends/figures/Answers.h"
#include "analysis/Figures.h"
#include "backends/Backends.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;

/// A block of each backend that has figures.
static void
forEachBlock(llvm::function_ref<void(const Backend &, const ir::EmitSpec &,
                                     const Emission &)>
                 Visit) {
  for (const Backend &B : allBackends()) {
    if (!B.HasFigures)
      continue;
    const ir::EmitSpec Plain = ir::EmitSpec::plain(B.Name);
    DiagnosticEngine Unheard; // nothing is wrong with no option
    Visit(B, Plain, *B.read(Plain, Unheard));
  }
}

/// `the product of ... exceeds 2^63 [size-overflow]`.
static std::string firstError(const DiagnosticEngine &Diags) {
  const Diagnostic *First = Diags.firstError();
  return First->text() + " [" + getDiagnosticInfo(First->Id).Slug.str() + "]";
}

/// Returns whether a backend that describes such a step knows the program.
static bool isAnswered(ServedStep Step,
                       const std::optional<ir::ServeSpec> &Serve) {
  return !Serve || (Step != NoStep &&
                    (Step != Largest || *Serve->Step == ir::StepKind::Largest));
}

std::vector<Answer>
foretrace::answersOf(JobFigures &Of, ir::FactSet Facts,
                     const ir::Program *Largest,
                     llvm::function_ref<std::string(SourceRange)> Where) {
  std::vector<Answer> All;
  std::optional<ir::ExprOverlay> Sizes;
  std::optional<JobFigures> OfLargest;
  if (Largest)
    OfLargest.emplace(Sizes.emplace(*Largest), Validity::ThisJob);
  forEachBlock([&](const Backend &B, const ir::EmitSpec &Plain,
                   const Emission &Block) {
    JobFigures &Shown = OfLargest && Block.servedStep() == ServedStep::Largest
                            ? *OfLargest
                            : Of;
    if (!Facts.contains(Block.needs()) ||
        !isAnswered(Block.servedStep(), Shown.scope()->Spec.Serve))
      return;
    const EmitRequest Request{*Shown.scope(), Shown, Plain, "", Where};
    DiagnosticEngine Diags;
    if (Block.check(Request, Diags) && !Diags.hasErrors())
      All.push_back({&B, Block.figures(Request), ""});
    else
      All.push_back({&B, std::nullopt, firstError(Diags)});
  });
  return All;
}

ir::FactSet foretrace::factsOfAnswers() {
  ir::FactSet Facts;
  forEachBlock([&](const Backend &, const ir::EmitSpec &,
                   const Emission &Block) { Facts.insert(Block.needs()); });
  return Facts;
}
