// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/Explain.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::explain {

/// `stage 0`, or all that are alike: `stages 1..6`.
static std::string nameOf(const ir::Stage &S) {
  return S.Count == 1
             ? formatv("stage {0}", S.First).str()
             : formatv("stages {0}..{1}", S.First, S.First + S.Count - 1).str();
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
    Found.push_back({nameOf(S), {P.Spec.Model.LayersRange, "total", ""}, {}});
    Fill(S.Totals, Found.back().Figures);
  }
  return Found;
}

static bool isOfMemory(ir::ByteExpr) { return true; }
template <typename T> static bool isOfMemory(T) { return false; }

/// Those totals that are of memory, or the others.
static Expected<Subjects> explainTotals(const ir::Program &P,
                                        std::optional<int64_t> Stage,
                                        bool OfMemory) {
  const FigureMaker Make(P);
  return explainStages(
      P, Stage, [&](const ir::StageTotals &T, std::vector<Figure> &Into) {
#define STAGE_TOTAL(MEMBER, TYPE, WORD, DOC)                                   \
  if (isOfMemory(T.MEMBER) == OfMemory)                                        \
    Into.push_back(Make.make(WORD " (" DOC ")", T.MEMBER));
#include "ir/model/Totals.def"
      });
}

Expected<Subjects> explainMemory(const ir::Program &P,
                                 std::optional<int64_t> Stage) {
  return explainTotals(P, Stage, /*OfMemory=*/true);
}

Expected<Subjects> explainWork(const ir::Program &P,
                               std::optional<int64_t> Stage) {
  return explainTotals(P, Stage, /*OfMemory=*/false);
}

Expected<Subjects> explainMessages(const ir::Program &P,
                                   std::optional<int64_t> Stage) {
  const FigureMaker Make(P);
  return explainStages(
      P, Stage, [&](const ir::StageTotals &T, std::vector<Figure> &Into) {
        for (const ir::GroupBytes &G : T.Messages) {
          std::string What;
          raw_string_ostream(What) << "messages(" << G.Of << ")";
          Into.push_back(Make.make(std::move(What), G.Size));
        }
      });
}

} // namespace foretrace::explain
