// SPDX-License-Identifier: Apache-2.0
#include "passes/PassManager.h"
#include "ir/verify/Verify.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Passes.h"
#include "passes/Passes.h"
#include "passes/ReadCheck.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <chrono>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

// The unqualified names of Passes.def.
#define FACT(ENUMERATOR, SPELLING, MAKES, LEVEL, DOC)                          \
  constexpr Fact ENUMERATOR = Fact::ENUMERATOR;
#include "ir/model/Facts.def"

template <typename... Ts> constexpr FactSet facts(Ts... Facts) {
  return FactSet{Facts...};
}

} // namespace

llvm::ArrayRef<PassInfo> foretrace::allPasses() {
  static constexpr PassInfo Passes[] = {
#define PASS(FUNCTION, NAME, SUMMARY, READS, REQUIRES, ESTABLISHES)            \
  {NAME,           SUMMARY,           READS,                                   \
   facts REQUIRES, facts ESTABLISHES, foretrace::FUNCTION},
#include "passes/Passes.def"
  };
  return Passes;
}

const PassInfo *foretrace::findPass(llvm::StringRef Name) {
  const PassInfo *Found = llvm::find_if(
      allPasses(), [Name](const PassInfo &P) { return P.Name == Name; });
  return Found == allPasses().end() ? nullptr : Found;
}

llvm::Expected<std::vector<const PassInfo *>>
foretrace::findPasses(llvm::ArrayRef<std::string> Names) {
  std::vector<const PassInfo *> Passes;
  for (llvm::StringRef Name : Names) {
    Passes.push_back(findPass(Name));
    if (Passes.back())
      continue;
    std::vector<llvm::StringRef> Known;
    for (const PassInfo &P : allPasses())
      Known.push_back(P.Name);
    const llvm::StringRef Nearest = nearestWord(Name, Known);
    return llvm::createStringError(
        "`" + Name + "` is not a pass" +
        (Nearest.empty() ? "" : "; did you mean `" + Nearest + "`?") +
        " There are " + llvm::join(Known, ", "));
  }
  return Passes;
}

std::vector<const PassInfo *> foretrace::pipelineFor(FactSet Needs) {
  // Every pass stands after those it depends on, so one walk from the end
  // finds them all.
  std::vector<const PassInfo *> Pipeline;
  for (const PassInfo &P : llvm::reverse(allPasses())) {
    if (!P.Establishes.intersects(Needs))
      continue;
    Pipeline.push_back(&P);
    Needs.insert(P.Requires);
  }
  std::reverse(Pipeline.begin(), Pipeline.end());
  return Pipeline;
}

/// Reports the first fact \p Pass requires that \p P lacks.
static bool checkRequirements(const Program &P, const PassInfo &Pass,
                              DiagnosticEngine &Diags) {
  FactSet Missing = Pass.Requires.minus(P.Facts);
  for (const PassInfo &Provider : allPasses())
    if (Provider.Establishes.intersects(Missing)) {
      Diags.report({}, diag::PassRequiresFact, Pass.Name, Provider.Name);
      return false;
    }
  return true;
}

/// IR text can claim facts without those they rest on.
static bool checkFacts(const Program &P, DiagnosticEngine &Diags) {
  return llvm::all_of(allPasses(), [&](const PassInfo &Provider) {
    return !Provider.Establishes.intersects(P.Facts) ||
           checkRequirements(P, Provider, Diags);
  });
}

static bool runOne(Program &P, const PassInfo &Pass, DiagnosticEngine &Diags) {
  const ReadCheck Check(P, Pass);
  return Pass.Run(P, Diags);
}

bool foretrace::runPasses(Program &P, llvm::ArrayRef<const PassInfo *> Passes,
                          DiagnosticEngine &Diags, const PassOptions &Options) {
  using Clock = std::chrono::steady_clock;
  for (const PassInfo *Pass : Passes) {
    if (!checkFacts(P, Diags) || !checkRequirements(P, *Pass, Diags))
      return false;
    Clock::time_point Start = Clock::now();
    if (!runOne(P, *Pass, Diags))
      return false;
    P.Facts.insert(Pass->Establishes);
    if (Options.Timed)
      Options.Timed(*Pass, std::chrono::duration_cast<std::chrono::nanoseconds>(
                               Clock::now() - Start)
                               .count());
    if (Options.After)
      Options.After(*Pass, P);
    if (Options.VerifyEach && !verify(P, Diags))
      return false;
  }
  return true;
}

std::optional<Program> foretrace::establish(Spec Job, FactSet Needs,
                                            DiagnosticEngine &Diags) {
  Program P;
  P.Spec = std::move(Job);
  if (!runPasses(P, pipelineFor(Needs), Diags, {}) || Diags.hasErrors())
    return std::nullopt;
  return P;
}
