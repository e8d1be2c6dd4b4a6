// SPDX-License-Identifier: Apache-2.0
#include "passes/PassManager.h"
#include "ir/model/SpecFields.h"
#include "ir/model/SpecKeys.h"
#include "ir/verify/Verify.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Passes.h"
#include "passes/Passes.h"
#include "passes/StructureCache.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <chrono>

using namespace foretrace;
using namespace foretrace::ir;

#ifndef NDEBUG

namespace {

/// Facts that the running pass may read.
struct Reads {
  llvm::StringRef Pass;
  llvm::StringSet<> Declared;
  llvm::DenseMap<const void *, std::string> Keys;
  /// Numbers that it must not read.
  llvm::DenseSet<const void *> Undecided;
};
thread_local std::optional<Reads> Current;

/// Removes the numbers in \p Of from \p Undecided.
void decide(const Program &P, ExprId Of,
            llvm::DenseSet<const void *> &Undecided) {
  const ExprNode &N = P.Sizes[Of];
  if (N.Op == ExprOp::Key) {
    Undecided.erase(findField(P.Spec, N.Key));
    return;
  }
  for (const ExprId Operand : {N.Left, N.Right})
    if (Operand.isValid())
      decide(P, Operand, Undecided);
}

/// Text has no decisions: it is a structure of its own.
void addUndecided(const Program &P, const PassInfo &Pass,
                  llvm::DenseSet<const void *> &Undecided) {
  if (P.Checks.empty() || !llvm::is_contained(StructureCache::passes(), &Pass))
    return;
  forEachNumber(P.Spec,
                [&](Key, const Located<int64_t> &F) { Undecided.insert(&F); });
  for (const ir::Check &C : P.Checks)
    if (C.Is == ir::Check::Kind::Decision)
      decide(P, C.Of, Undecided);
  // Equal blocks share the numbers of the first one.
  forEachNumber(P.Spec, [&](Key K, const Located<int64_t> &F) {
    const std::optional<ExprId> Id = P.Sizes.find(K);
    if (!Id || !P.Sizes[*Id].Left.isValid())
      return;
    const ExprNode &As = P.Sizes[P.Sizes[*Id].Left];
    if (As.Op == ExprOp::Key && !Undecided.contains(findField(P.Spec, As.Key)))
      Undecided.erase(&F);
  });
}

void check(const void *Value, bool IsCarried) {
  auto Found = Current->Keys.find(Value);
  if (Found == Current->Keys.end())
    return; // of another spec, or no key
  const llvm::StringRef Key = Found->second;
  if (!IsCarried && Current->Undecided.contains(Value))
    llvm::report_fatal_error("pass `" + Current->Pass + "` reads the number `" +
                             Key + "`, by which `derive` decided nothing");
  if (Current->Declared.contains(Key) ||
      Current->Declared.contains((Key.split('.').first + ".*").str()))
    return;
  llvm::report_fatal_error("pass `" + Current->Pass + "` reads `" + Key +
                           "`, which passes/Passes.def does not say");
}

/// Checks, in builds with assertions, that a pass reads only those keys of the
/// spec that Passes.def declares, and, if jobs share its result
/// (StructureCache.h), only those numbers by which `derive` decided something.
/// The result of a pass can depend only on what it reads. Follows the reads of
/// \p Pass in the spec of \p P during its lifetime, and ends the process if
/// there are more than declared. A pass may run others on another program.
class ReadCheck {
public:
  ReadCheck(const Program &P, const PassInfo &Pass);
  ~ReadCheck();
  ReadCheck(const ReadCheck &) = delete;
  ReadCheck &operator=(const ReadCheck &) = delete;

private:
  std::optional<Reads> Outer = std::move(Current);
};

} // namespace

ReadCheck::ReadCheck(const Program &P, const PassInfo &Pass) {
  const Spec &S = P.Spec;
  Current.emplace();
  Current->Pass = Pass.Name;
  llvm::SmallVector<llvm::StringRef, 32> Declared;
  Pass.Reads.split(Declared, ' ', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef Key : Declared)
    Current->Declared.insert(Key);
  auto Add = [](const FieldRow &Row, const auto &F) {
    Current->Keys[&F] = pathOf(Row);
  };
  visitJob(S, Add);
  for (const BlockSpec &B : S.Model.Blocks)
    visitBlock(B, Add);
  visitFields(S.Cost, Add);
  visitFields(S.Cost.Device, Add);
  if (S.Cluster) {
    visitFields(*S.Cluster, Add);
    visitFields(S.Cluster->Device, Add);
    for (const TierSpec &T : S.Cluster->Tiers)
      visitFields(T, Add);
  }
  addUndecided(P, Pass, Current->Undecided);
  OnRead = check;
}

ReadCheck::~ReadCheck() {
  Current = std::move(Outer);
  OnRead = Current ? check : nullptr;
}

#else

namespace {

class ReadCheck {
public:
  ReadCheck(const Program &, const PassInfo &) {}
};

} // namespace

#endif

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
    return llvm::createStringError("`" + Name + "` is not a pass" +
                                   didYouMean(Name, Known) + " There are " +
                                   llvm::join(Known, ", "));
  }
  return Passes;
}

std::vector<const PassInfo *> foretrace::pipelineFor(FactSet Needs) {
  // Every pass comes after those it depends on, so one walk from the end finds
  // them all.
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
