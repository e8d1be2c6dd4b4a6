// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/FittingChanges.h"
#include "passes/vary/Fit.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace llvm;

namespace foretrace::driver {

FigureTable listFittingChanges(const CompiledJob &Job, const ir::Program &P,
                               int64_t Room) {
  std::set<diag::Id> Told; // what is said of the job anyway
  for (const Diagnostic &D : Job.diagnostics())
    Told.insert(D.Id);
  auto Try =
      [&](function_ref<void(ir::Spec &)> Change) -> std::optional<vary::Load> {
    const std::unique_ptr<CompiledJob> Varied = Job.attempt([&](ir::Spec &S) {
      Change(S);
      return true;
    });
    const ir::Program *Result =
        Varied->program({ir::Fact::Scheduled, ir::Fact::Totalled});
    if (!Result || any_of(Varied->diagnostics(), [&](const Diagnostic &D) {
          return Told.count(D.Id) == 0;
        }))
      return std::nullopt;
    return vary::loadOf(*Result);
  };
  const vary::Load Now = vary::loadOf(P);
  const std::vector<vary::Proposal> Found =
      vary::changesThatFit(*Job.spec(), P.Spec, Now, Room, Try);
  FigureTable T{"changes",
                Found.empty()
                    ? "None of the changes and pairs of changes tried makes "
                      "the job fit (worst rank)"
                    : "Changes that would make the job fit (worst rank)",
                {{"change", FigureUnit::Text},
                 {"peak", FigureUnit::Bytes},
                 {"flops", FigureUnit::Flops},
                 {"messages", FigureUnit::Bytes}},
                {}};
  auto Add = [&](std::string Keys, const vary::Load &L) {
    T.Rows.push_back({std::move(Keys), L.peak(), L.Work, L.Messages});
  };
  Add("none", Now);
  for (const vary::Proposal &F : Found)
    Add(F.Keys, F.Of);
  return T;
}

} // namespace foretrace::driver
