// SPDX-License-Identifier: Apache-2.0
#include "analysis/Figures.h"
#include "lang/NumberText.h"
#include "tools/explain/Explain.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::explain {

/// `stage 0`, or all that are alike: `stages 1..6`.
static std::string nameOf(const ir::Stage &S) {
  return (S.Count == 1 ? "stage " : "stages ") +
         printRange({S.First, S.Count}, "..");
}

/// A subject for each kind of stage, or the one that \p Stage is of, with the
/// figures that \p Fill adds.
template <typename FillT>
static Expected<Subjects>
explainStages(const ir::Program &P, std::optional<int64_t> Stage, FillT Fill) {
  const int64_t Stages = *P.Spec.Parallel.Pp;
  if (Stage && (*Stage < 0 || *Stage >= Stages))
    return createStringError(
        formatv("--stage: the job has {0} stages, from 0", Stages).str());
  Subjects Found;
  for (const ir::Stage &S : P.Stages) {
    if (Stage && (*Stage < S.First || *Stage >= S.First + S.Count))
      continue;
    Found.push_back({nameOf(S),
                     {P.Spec.Model.LayersRange, "total", ""},
                     {},
                     IndexRange{S.First, S.Count}});
    Fill(S, Found.back().Figures);
  }
  return Found;
}

/// The figures of stages that are of memory, or the others.
static Expected<Subjects> explainFigures(const ir::Program &P,
                                         std::optional<int64_t> Stage,
                                         bool OfMemory) {
  ir::ExprOverlay Over(P);
  JobFigures Of(Over, Validity::ThisJob);
  const FigureMaker Make(P.Spec, Over.Sizes);
  return explainStages(
      P, Stage, [&](const ir::Stage &S, std::vector<DerivedFigure> &Into) {
        for (const FigureId Id : stageFiguresOf(P)) {
          const FigureInfo &Info = getInfo(Id);
          if (Id != FigureId::Messages &&
              (Info.Unit == FigureUnit::Bytes) == OfMemory)
            Into.push_back(Make.make(Info.Name + " (" + Info.Doc + ")",
                                     Of.of(Id, S), Info.Unit));
        }
      });
}

Expected<Subjects> explainMemory(const ir::Program &P,
                                 std::optional<int64_t> Stage) {
  return explainFigures(P, Stage, /*OfMemory=*/true);
}

Expected<Subjects> explainWork(const ir::Program &P,
                               std::optional<int64_t> Stage) {
  return explainFigures(P, Stage, /*OfMemory=*/false);
}

Expected<Subjects> explainMessages(const ir::Program &P,
                                   std::optional<int64_t> Stage) {
  const FigureMaker Make(P);
  return explainStages(
      P, Stage, [&](const ir::Stage &S, std::vector<DerivedFigure> &Into) {
        for (const ir::GroupBytes &G : S.Totals.Messages) {
          std::string What;
          raw_string_ostream(What) << "messages(" << G.Of << ")";
          Into.push_back(Make.make(std::move(What), G.Size));
        }
      });
}

} // namespace foretrace::explain
