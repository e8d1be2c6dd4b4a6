// SPDX-License-Identifier: Apache-2.0
//
// Random jobs of many models: figures that are evaluated, one by one and in
// blocks, are those of a compilation from scratch, and so is what is refused.
// A program that shares the structure of another job is that of passes alone.
#include "ir/model/SpecKeys.h"
#include "ir/text/Print.h"
#include "lang/diagnostics/Lang.h"
#include "passes/PassManager.h"
#include "passes/Structure.h"
#include "tools/compiler/Compiler.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <random>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

using Field = Located<int64_t>;

/// A number that jobs differ in, and what it is chosen from.
struct Axis {
  Field *(*Find)(Spec &S);
  std::vector<int64_t> Values;
};

#define NUMBER(SECTION, MEMBER)                                                \
  [](Spec &S) -> Field * { return &S.SECTION.MEMBER; }

const std::vector<Axis> Axes = {
    {NUMBER(Parallel, World), {8, 64, 96, 512, 1024, 4096}},
    {NUMBER(Parallel, Tp), {1, 2, 3, 4, 8}},
    {NUMBER(Parallel, Cp), {1, 1, 1, 2, 4}},
    {NUMBER(Parallel, Pp), {1, 2, 3, 4, 8, 16}},
    {NUMBER(Parallel, Vpp), {1, 1, 2, 3}},
    {NUMBER(Parallel, Ep), {1, 1, 2, 8}},
    {NUMBER(Parallel, Zero), {0, 1, 2, 3}},
    {NUMBER(Train, MicroBatch), {1, 2, 3, 4}},
    {NUMBER(Train, GlobalBatch), {64, 512, 768, 1536, 6144}},
    {NUMBER(Train, Sequence), {1024, 4096, 4100, 131072, int64_t(1) << 45}},
    {NUMBER(Model, Vocab), {32000, 50257, 128256}},
};

/// What makes other structures.
void chooseFlags(Spec &S, std::mt19937_64 &Random) {
  auto Flip = [&](Located<bool> &F) { F.state(Random() % 2 == 0, {}); };
  S.Parallel.SequenceParallel.state(*S.Parallel.Tp > 1, {});
  Flip(S.Train.AttentionMask);
  Flip(S.Train.Dropout);
  S.Train.Recompute.state(static_cast<RecomputeKind>(Random() % 4), {});
  if (*S.Parallel.Pp > 1 && Random() % 3 == 0)
    S.Parallel.Schedule.state(static_cast<ScheduleKind>(Random() % 10), {});
  if (Random() % 6 == 0)
    S.Parallel.FirstStageLayers.state(1 + int64_t(Random() % 8), {});
}

class Checker {
public:
  Checker(Spec Base, const SourceFiles &Sources, unsigned Jobs,
          unsigned long Seed)
      : Base(std::move(Base)), Sources(Sources), Jobs(Jobs), Random(Seed) {}

  bool run();
  size_t structures() const { return Known.size(); }
  unsigned Accepted = 0, Rejected = 0, Compiled = 0, Shared = 0;

private:
  /// A structure, those who evaluate it, and what blocks are yet to be asked.
  struct Entry {
    explicit Entry(Structure Made)
        : S(std::move(Made)), Code(totalsOf(S)), Row(S), Columns(S, Code) {}
    Structure S;
    const ExprCode Code;
    StructureRow Row;
    StructureColumns Columns;
    std::vector<std::vector<int64_t>> Rows;    ///< numbers of its jobs
    std::vector<std::vector<int64_t>> Figures; ///< empty: refused
    std::vector<size_t> Violated;
  };

  Spec choose();
  bool checkOne();
  bool checkShared(const Spec &S, const Program &P);
  std::string textOf(const Program &P) const;
  bool checkBlocks(Entry &E);
  void setRow(Entry &E, const Spec &S);
  static ExprCode totalsOf(const Structure &S);
  bool fail(const llvm::Twine &What, const Spec &S);

  const Spec Base;
  const SourceFiles &Sources;
  const unsigned Jobs;
  std::mt19937_64 Random;
  StructureCache Structures;
  std::vector<std::unique_ptr<Entry>> Known;
  std::vector<Spec> Flags; ///< parallel to Known: what they were made from
  std::vector<Spec> Legal; ///< those of them that are
};

} // namespace

/// As far as passes get; whether that is to the end.
static bool compile(Program &P, DiagnosticEngine &Diags) {
  return runPasses(P, pipelineFor({Fact::Totalled}), Diags, {}) &&
         !Diags.hasErrors();
}

/// Returns the figures of each kind of stage.
static std::vector<ExprId> figuresOf(const Program &P) {
  std::vector<ExprId> Out;
  for (const Stage &S : P.Stages) {
#define STAGE_TOTAL(MEMBER, ...)                                               \
  if (S.Totals.MEMBER.Id.isValid()) /* of a job that serves, or trains */       \
    Out.push_back(S.Totals.MEMBER.Id);
#include "ir/model/Totals.def"
    for (const GroupBytes &G : S.Totals.Messages)
      Out.push_back(G.Size.Id);
  }
  return Out;
}

ExprCode Checker::totalsOf(const Structure &S) {
  if (S.isRefusal())
    return {};
  return {S.program().Sizes, figuresOf(S.program())};
}

bool Checker::fail(const llvm::Twine &What, const Spec &S) {
  llvm::errs() << S.Model.Name << ": " << What << ':';
  for (const Axis &A : Axes) {
    Spec Copy = S;
    llvm::errs() << ' ' << nameOf(Copy, keyOf(Copy, *A.Find(Copy))) << " = "
                 << A.Find(Copy)->Value;
  }
  llvm::errs() << '\n';
  return false;
}

/// Returns the base, then a random job or one that differs from one with a
/// structure in some numbers.
Spec Checker::choose() {
  if (Known.empty())
    return Base;
  auto Change = [&](Spec &S, const Axis &A) {
    A.Find(S)->state(A.Values[Random() % A.Values.size()], {});
  };
  if (!Legal.empty() && Random() % 8 != 0) {
    Spec S = Legal[Random() % Legal.size()];
    for (uint64_t Left = Random() % 3 + 1; Left != 0; --Left)
      Change(S, Axes[Random() % Axes.size()]);
    return S;
  }
  Spec S = Base;
  for (const Axis &A : Axes)
    Change(S, A);
  chooseFlags(S, Random);
  return S;
}

/// With values and places.
std::string Checker::textOf(const Program &P) const {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  for (const SizeStyle Style : {SizeStyle::Names, SizeStyle::Numbers})
    print(P, OS, {Style, &Sources});
  return Text;
}

/// \p P is \p S, compiled by all passes.
bool Checker::checkShared(const Spec &S, const Program &P) {
  bool RunsAll = false;
  const PassRunner Run = [&](Program &Of, llvm::ArrayRef<const PassInfo *> Ps,
                             DiagnosticEngine &Diags) {
    RunsAll |= Ps.front() == StructureCache::passes().front();
    return runPasses(Of, Ps, Diags, {});
  };
  CompiledJob Job(Run, Structures, S, DiagnosticEngine());
  const Program *Other = Job.program({Fact::Totalled});
  Shared += !RunsAll;
  return (Other && textOf(*Other) == textOf(P)) ||
         fail("another program than that of passes alone", S);
}

/// Returns whether both jobs have the flags of one structure.
static bool haveSameFlags(const Spec &X, const Spec &Y) {
  auto IsAlike = [](const auto &A, const auto &B) {
    return A.isPresent() == B.isPresent() && (!A.isPresent() || *A == *B);
  };
  return IsAlike(X.Parallel.Schedule, Y.Parallel.Schedule) &&
         IsAlike(X.Parallel.FirstStageLayers, Y.Parallel.FirstStageLayers) &&
         *X.Train.AttentionMask == *Y.Train.AttentionMask &&
         *X.Train.Dropout == *Y.Train.Dropout &&
         *X.Train.Recompute == *Y.Train.Recompute &&
         *X.Parallel.SequenceParallel == *Y.Parallel.SequenceParallel;
}

/// Asks all structures that were made from the same flags.
bool Checker::checkOne() {
  const Spec S = choose();
  DiagnosticEngine Diags;
  Program P;
  P.Spec = S;
  const bool IsLegal = compile(P, Diags);
  if (IsLegal && !checkShared(S, P))
    return false;
  for (const auto &[E, Made] : llvm::zip_equal(Known, Flags)) {
    if (!haveSameFlags(Made, S))
      continue;
    std::vector<int64_t> Numbers;
    for (const Axis &A : Axes) {
      const Field &F = *A.Find(const_cast<Spec &>(S));
      E->Row.set(keyOf(S, F), F.Value);
      if (auto Column = E->Columns.column(keyOf(S, F)); !Column.empty())
        Column.front() = F.Value;
      Numbers.push_back(F.Value);
    }
    E->Columns.run(1);
    const Verdict V = E->Columns.verdict(0);
    // Whether it has the same stages, and what overflows, figures decide.
    const Verdict Checked = E->Row.check();
    if (Checked != V && Checked != Verdict::Accepted)
      return fail("a row judges otherwise", S);
    if (V == Verdict::Foreign)
      continue;
    if (E->Columns.violated(0) != E->Row.violated())
      return fail("a row finds another reason", S);
    E->Rows.push_back(std::move(Numbers));
    std::vector<int64_t> &Figures = E->Figures.emplace_back();
    E->Violated.push_back(E->Row.violated());
    if (V == Verdict::Accepted) {
      ++Accepted;
      if (!IsLegal)
        return fail("accepted, but refused by the compiler", S);
      const std::vector<ExprId> Expected = figuresOf(P);
      if (Expected.size() != E->Code.results().size())
        return fail("other kinds of stages than the compiler's", S);
      for (const auto &[I, Of] : llvm::enumerate(Expected)) {
        Figures.push_back(E->Columns.figure(0, I));
        if (Figures.back() != P.Sizes.value(Of))
          return fail("other figures than the compiler's", S);
      }
      return true;
    }
    ++Rejected;
    const diag::Id Reason =
        V == Verdict::Overflow
            ? diag::SizeOverflow
            : E->S.program().Checks[E->Row.violated()].Reported;
    if (IsLegal)
      return fail("refused for `" + getDiagnosticInfo(Reason).Slug +
                      "`, but compiled",
                  S);
    if (Diags.firstError()->Id != Reason)
      return fail("refused for `" + getDiagnosticInfo(Reason).Slug +
                      "`, but by the compiler for `" +
                      getDiagnosticInfo(Diags.firstError()->Id).Slug + "`",
                  S);
    return true;
  }
  ++Compiled;
  if (std::optional<Structure> New = Structure::of(P)) {
    Known.push_back(std::make_unique<Entry>(std::move(*New)));
    Flags.push_back(S);
    if (IsLegal)
      Legal.push_back(S);
  }
  return true;
}

/// What jobs alone gave, blocks give too.
bool Checker::checkBlocks(Entry &E) {
  // Where a number was that nothing more reads, there is place for another.
  const ExprCode &Code = E.Code;
  if (Code.slots() > Code.leaves().size() + Code.constants().size() +
                         Code.results().size() + Code.steps().size() / 2)
    return fail("slots are not used again", Base);
  constexpr size_t Size = StructureColumns::BlockSize;
  for (size_t First = 0; First < E.Rows.size(); First += Size) {
    const size_t Count = std::min(Size, E.Rows.size() - First);
    Spec S = Base;
    for (const auto &[Index, A] : llvm::enumerate(Axes))
      if (auto Column = E.Columns.column(keyOf(S, *A.Find(S))); !Column.empty())
        for (size_t I = 0; I < Count; ++I)
          Column[I] = E.Rows[First + I][Index];
    E.Columns.run(Count);
    for (size_t I = 0; I < Count; ++I) {
      const auto &Figures = E.Figures[First + I];
      const Verdict V = E.Columns.verdict(I);
      if (Figures.empty() != (V != Verdict::Accepted))
        return fail("a block judges otherwise", Base);
      if (V == Verdict::Rejected &&
          E.Columns.violated(I) != E.Violated[First + I])
        return fail("a block finds another reason", Base);
      for (size_t F = 0; F < Figures.size(); ++F)
        if (E.Columns.figure(I, F) != Figures[F])
          return fail("a block has another figure", Base);
    }
  }
  return true;
}

bool Checker::run() {
  for (unsigned I = 0; I < Jobs; ++I)
    if (!checkOne())
      return false;
  return llvm::all_of(Known, [&](auto &E) { return checkBlocks(*E); });
}

/// usage: check-evaluation JOBS_PER_MODEL SEED JOB...
int main(int Argc, char **Argv) {
  if (Argc < 4)
    return 2;
  unsigned Accepted = 0, Rejected = 0, Compiled = 0, Shared = 0;
  size_t Structures = 0;
  for (int I = 3; I < Argc; ++I) {
    Compiler Session;
    const Spec *Job = Session.read(Argv[I]).spec();
    if (!Job) {
      llvm::errs() << Argv[I] << " does not compile\n";
      return 1;
    }
    Checker C(*Job, Session.sources(),
              static_cast<unsigned>(std::atoi(Argv[1])),
              std::strtoul(Argv[2], nullptr, 10) + static_cast<unsigned>(I));
    if (!C.run())
      return 1;
    Accepted += C.Accepted;
    Rejected += C.Rejected;
    Compiled += C.Compiled;
    Shared += C.Shared;
    Structures += C.structures();
  }
  llvm::outs() << "accepted alike: " << Accepted
               << "\nrefused alike: " << Rejected << "\ncompiled: " << Compiled
               << "\nshared: " << Shared << "\nstructures: " << Structures
               << '\n';
  return 0;
}
