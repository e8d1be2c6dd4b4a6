// SPDX-License-Identifier: Apache-2.0
//
// Two tables, of the numbers that can mend an error and of the ways that take
// more than a number, and one judge of both: a derivation of the changed job.
#include "passes/Remedies.h"
#include "ir/Spellings.h"
#include "passes/Deriver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>
#include <optional>

using namespace foretrace;
using namespace foretrace::ir;

using Values = llvm::SmallVector<int64_t, 16>;

/// Values of one key that are tried on each side of what it holds.
static constexpr size_t MaxTried = 16;
/// Changes that are tried for one job, however many errors it has.
static constexpr unsigned MaxTrials = 512;
/// Blocks and chunks of a job whose changes are still tried.
static constexpr size_t MaxParts = 4096;

/// Divisors of \p Total that are small or that a small number leads to:
/// all, up to 2^24.
static Values divisorsOf(int64_t Total) {
  constexpr int64_t MaxSmall = 1 << 12;
  Values Found;
  for (int64_t D = 1; D <= MaxSmall && D <= Total / D; ++D)
    if (Total % D == 0)
      Found.append({D, Total / D});
  return Found;
}

/// The multiples of \p Unit around \p Value.
static Values multiplesOf(int64_t Unit, int64_t Value) {
  constexpr int64_t MaxSteps = MaxTried;
  Values Found;
  for (int64_t Step = -MaxSteps; Step <= MaxSteps; ++Step) {
    int64_t Count, Multiple;
    if (!llvm::AddOverflow(Value / Unit, Step, Count) && Count > 0 &&
        !llvm::MulOverflow(Count, Unit, Multiple))
      Found.push_back(Multiple);
  }
  return Found;
}

static int64_t product(std::initializer_list<int64_t> Factors) {
  int64_t Product = 1;
  for (int64_t F : Factors)
    if (llvm::MulOverflow(Product, F, Product))
      return 1; // nothing near is legal, as its derivation will say
  return Product;
}

namespace {

/// A number that can mend an error.
struct NumberKey {
  using Field = Located<int64_t>;

  llvm::StringLiteral Name;
  /// All that hold what \p At states: blocks share an attention section.
  std::vector<Field *> (*Find)(Spec &S, SourceRange At);
  /// What it can be at best, in any order; \p S is derived.
  Values (*List)(const Spec &S, const Field &Now);
};

} // namespace

static Values divisorsOfWorld(const Spec &S, const Located<int64_t> &) {
  return divisorsOf(*S.Parallel.World);
}

#define SINGLE_KEY(SECTION, MEMBER)                                            \
  [](Spec &S, SourceRange) {                                                   \
    return std::vector<NumberKey::Field *>{&S.SECTION.MEMBER};                 \
  }
static constexpr NumberKey Tp = {"tp", SINGLE_KEY(Parallel, Tp),
                                 divisorsOfWorld};
static constexpr NumberKey Cp = {"cp", SINGLE_KEY(Parallel, Cp),
                                 divisorsOfWorld};
static constexpr NumberKey Pp = {"pp", SINGLE_KEY(Parallel, Pp),
                                 divisorsOfWorld};
static constexpr NumberKey Ep = {"ep", SINGLE_KEY(Parallel, Ep),
                                 divisorsOfWorld};
static constexpr NumberKey Etp = {"etp", SINGLE_KEY(Parallel, Etp),
                                  divisorsOfWorld};
static constexpr NumberKey Vpp = {
    "vpp", SINGLE_KEY(Parallel, Vpp), [](const Spec &S, const auto &) {
      return divisorsOf(S.Model.layerCount() + *S.Parallel.EmbeddingAsLayer +
                        *S.Parallel.LossAsLayer);
    }};
static constexpr NumberKey World = {
    "world", SINGLE_KEY(Parallel, World), [](const Spec &S, const auto &Now) {
      const ParallelSpec &P = S.Parallel;
      const int64_t Etp = P.Etp.isPresent() ? *P.Etp : *P.Tp;
      const int64_t Dense = product({*P.Tp, *P.Cp, *P.Pp});
      const int64_t Expert = product({Etp, *P.Ep, *P.Pp});
      return multiplesOf(product({Dense / std::gcd(Dense, Expert), Expert}),
                         *Now);
    }};
static constexpr NumberKey GlobalBatch = {
    "global_batch", SINGLE_KEY(Train, GlobalBatch),
    [](const Spec &S, const auto &Now) {
      return multiplesOf(product({*S.Train.MicroBatch, *S.Parallel.Dp}), *Now);
    }};
static constexpr NumberKey MicroBatchGroup = {
    "micro_batch_group", SINGLE_KEY(Parallel, MicroBatchGroup),
    [](const Spec &, const auto &Now) { return multiplesOf(1, *Now); }};
static constexpr NumberKey Sequence = {
    "sequence", SINGLE_KEY(Train, Sequence),
    [](const Spec &S, const auto &Now) {
      const ParallelSpec &P = S.Parallel;
      return multiplesOf(
          product({*P.Cp > 1 ? 2 * *P.Cp : 1, *P.SequenceParallel ? *P.Tp : 1}),
          *Now);
    }};
#undef SINGLE_KEY

static constexpr NumberKey Nodes = {
    "nodes",
    [](Spec &S, SourceRange) {
      return S.Cluster ? std::vector<NumberKey::Field *>{&S.Cluster->Nodes}
                       : std::vector<NumberKey::Field *>{};
    },
    [](const Spec &S, const auto &) {
      return Values{static_cast<int64_t>(
          llvm::divideCeil(*S.Parallel.World, *S.Cluster->DevicesPerNode))};
    }};

static constexpr NumberKey KvHeads = {
    "kv_heads",
    [](Spec &S, SourceRange At) {
      std::vector<NumberKey::Field *> Found;
      for (BlockSpec &B : S.Model.Blocks)
        if (B.Attention.KvHeads.Range.start() == At.start())
          Found.push_back(&B.Attention.KvHeads);
      return Found;
    },
    [](const Spec &S, const auto &Now) {
      for (const BlockSpec &B : S.Model.Blocks)
        if (B.Attention.KvHeads.Range.start() == Now.Range.start())
          return divisorsOf(*B.Attention.Heads);
      return Values();
    }};

/// Which numbers can mend which error.
static constexpr struct {
  diag::Id Wrong;
  const NumberKey &Key;
} NumberRows[] = {
    {diag::WorldIndivisible, World},
    {diag::WorldExceedsCluster, Nodes},
    {diag::WorldExceedsCluster, World},
    {diag::BatchIndivisible, GlobalBatch},
    {diag::GaIndivisible, GlobalBatch},
    {diag::LastGroup, GlobalBatch},
    {diag::LastGroup, MicroBatchGroup},
    {diag::MicroBatchGroup, MicroBatchGroup},
    {diag::SequenceIndivisible, Sequence},
    {diag::HeadsIndivisible, Tp},
    {diag::KvHeadsIndivisible, Tp},
    {diag::KvHeadsNoFactor, KvHeads},
    {diag::CpHeadsIndivisible, Cp},
    {diag::UnfusedCp, Cp},
    {diag::FfnIndivisible, Tp},
    {diag::FfnIndivisible, Etp},
    {diag::ExpertsIndivisible, Ep},
    {diag::EpExceedsDp, Ep},
    {diag::EpExceedsDp, Etp},
    {diag::ExpertBiasEtp, Etp},
    {diag::PartitionStages, Pp},
    {diag::LayersIndivisible, Pp},
    {diag::LayersIndivisible, Vpp},
};

namespace {

/// A change of the job, and how it is written.
struct Way {
  std::string Text; ///< empty: there is none
  void set(llvm::StringRef Key, const llvm::Twine &Value) {
    Text += (Text.empty() ? "`" : " and `") + (Key + " = " + Value).str() + "`";
  }
};

} // namespace

/// Counts the embedding and the loss as layers or not, as \p S does not yet.
template <bool Embedding, bool Loss> static Way countEnds(Spec &S) {
  Way W;
  for (auto [Name, Key, Wanted] :
       {std::tuple("embedding_as_layer", &S.Parallel.EmbeddingAsLayer,
                   Embedding),
        std::tuple("loss_as_layer", &S.Parallel.LossAsLayer, Loss)})
    if (**Key != Wanted) {
      Key->state(Wanted, Key->Range);
      W.set(Name, Wanted ? "true" : "false");
    }
  return W;
}

/// Adds \p Count chunks of \p Layers to a list and its text.
static void addChunks(ParallelSpec &P, std::string &Text, int64_t Count,
                      int64_t Layers) {
  if (Count == 0)
    return;
  P.Layout.resize(P.Layout.size() + static_cast<size_t>(Count));
  for (int64_t I = 0; I < Count; ++I)
    P.Layout.end()[-1 - I].state(Layers, P.LayoutRange);
  Text += (Text.empty() ? "" : " + ") +
          (Count == 1 ? "" : std::to_string(Count) + " * ") + "[" +
          std::to_string(Layers) + "]";
}

/// As even as can be, with the smaller chunks at the ends, where the embedding
/// and the loss are.
static Way writeLayout(Spec &S) {
  ParallelSpec &P = S.Parallel;
  int64_t Chunks;
  if (llvm::MulOverflow(*P.Pp, *P.Vpp, Chunks) || Chunks > int64_t(MaxParts))
    return {};
  const int64_t Layers = S.Model.layerCount();
  const int64_t Larger = Layers % Chunks, Smaller = Chunks - Larger;
  P.Layout.clear();
  std::string Text;
  addChunks(P, Text, Smaller - Smaller / 2, Layers / Chunks);
  addChunks(P, Text, Larger, Layers / Chunks + 1);
  addChunks(P, Text, Smaller / 2, Layers / Chunks);
  Way W;
  W.set("layout", Text);
  return W;
}

static Way balance(Spec &S) {
  ParallelSpec &P = S.Parallel;
  Way W;
  P.Partition.state(PartitionKind::Balanced, P.Partition.Range);
  W.set("partition", "balanced");
  if (*P.Vpp > 1) {
    P.Vpp.state(1, P.Vpp.Range);
    W.set("vpp", "1");
  }
  return W;
}

static Way putStagesLast(Spec &S) {
  const RankOrderKind Last = RankOrderKind::TpCpEpDpPp;
  S.Parallel.RankOrder.state(Last, S.Parallel.RankOrder.Range);
  Way W;
  W.set("rank_order", getSpelling(Last));
  return W;
}

static constexpr diag::Id OfTheSplit[] = {diag::LayersIndivisible,
                                          diag::StageChunks, diag::StageRest,
                                          diag::LayoutLength, diag::LayoutSum};
static constexpr diag::Id OfTheOrder[] = {diag::RankOrderExperts};

enum class WayKind : unsigned char { CountEnds, Layout, Balance, RankOrder };

/// Ways out of errors, from the smallest change to the largest. Of ways of one
/// kind the first that helps is enough.
static constexpr struct {
  WayKind Kind;
  llvm::ArrayRef<diag::Id> Wrong;
  Way (*Change)(Spec &);
} Ways[] = {
    {WayKind::CountEnds, OfTheSplit, countEnds<true, false>},
    {WayKind::CountEnds, OfTheSplit, countEnds<false, true>},
    {WayKind::CountEnds, OfTheSplit, countEnds<true, true>},
    {WayKind::CountEnds, OfTheSplit, countEnds<false, false>},
    {WayKind::Layout, OfTheSplit, writeLayout},
    {WayKind::Balance, OfTheSplit, balance},
    {WayKind::RankOrder, OfTheOrder, putStagesLast},
};

namespace {

class Remedies {
public:
  Remedies(const Spec &Given, const Spec &Derived,
           std::vector<DiagnosticBuilder> Errors, const DiagnosticEngine &Diags)
      : Given(Given), Derived(Derived), Errors(std::move(Errors)),
        Diags(Diags) {
    this->Given.Emits.clear();
  }

  void note();

private:
  bool mends(const Diagnostic &Wrong, Spec Changed);
  void noteNumber(DiagnosticBuilder &Wrong, const NumberKey &Key);
  void noteWays(DiagnosticBuilder &Wrong);

  Spec Given, Derived;
  std::vector<DiagnosticBuilder> Errors;
  const DiagnosticEngine &Diags;
  unsigned Trials = 0;
};

} // namespace

static bool isSame(const Diagnostic &A, const Diagnostic &B) {
  return A.Id == B.Id && A.Range.start() == B.Range.start();
}

bool Remedies::mends(const Diagnostic &Wrong, Spec Changed) {
  if (++Trials > MaxTrials)
    return false;
  Program P;
  P.Spec = std::move(Changed);
  DiagnosticEngine Silent = Diags.cloneEmpty();
  Deriver(P, Silent).run();
  return llvm::all_of(Silent.diagnostics(), [&](const Diagnostic &D) {
    return D.Level != Severity::Error ||
           (!isSame(D, Wrong) &&
            llvm::any_of(Errors, [&](const DiagnosticBuilder &E) {
              return isSame(D, E.get());
            }));
  });
}

void Remedies::noteNumber(DiagnosticBuilder &Wrong, const NumberKey &Key) {
  const SourceRange At = Wrong.get().Range;
  std::vector<NumberKey::Field *> Fields = Key.Find(Derived, At);
  if (Fields.empty())
    return;
  const NumberKey::Field Now = *Fields.front();
  Values All = Key.List(Derived, Now);
  llvm::sort(All);
  auto Helps = [&](int64_t Value) {
    Spec Changed = Given;
    for (NumberKey::Field *F : Key.Find(Changed, At))
      F->state(Value, F->Range);
    return mends(Wrong.get(), std::move(Changed));
  };
  const auto *Above = llvm::upper_bound(All, *Now);
  llvm::ArrayRef<int64_t> Larger(Above, All.end());
  Values Smaller(All.begin(), llvm::lower_bound(All, *Now));
  std::reverse(Smaller.begin(), Smaller.end());
  std::string Text;
  for (llvm::ArrayRef<int64_t> Side :
       {llvm::ArrayRef<int64_t>(Smaller), Larger}) {
    Side = Side.take_front(MaxTried);
    const auto *Found = llvm::find_if(Side, Helps);
    if (Found != Side.end())
      Text += (Text.empty() ? "" : " or ") + std::to_string(*Found);
  }
  if (!Text.empty())
    Wrong.note(Now.isStated() ? Now.Range : At, diag::NearestLegal, Key.Name,
               Text);
}

void Remedies::noteWays(DiagnosticBuilder &Wrong) {
  std::vector<std::string> Found;
  std::optional<WayKind> Helped;
  for (const auto &[Kind, Mended, Change] : Ways) {
    if (Kind == Helped || !llvm::is_contained(Mended, Wrong.get().Id))
      continue;
    Spec Changed = Given;
    Way W = Change(Changed);
    if (W.Text.empty() || !mends(Wrong.get(), std::move(Changed)))
      continue;
    Helped = Kind;
    Found.push_back(std::move(W.Text));
  }
  if (!Found.empty())
    Wrong.note(Wrong.get().Range, diag::FitsWith,
               llvm::join(Found, "; or with "));
}

void Remedies::note() {
  if (Given.Model.Blocks.size() + Given.Parallel.Layout.size() > MaxParts)
    return;
  for (size_t I = 0; I != Errors.size(); ++I) {
    const Diagnostic Wrong = Errors[I].get();
    auto IsWrong = [&](const DiagnosticBuilder &E) {
      return isSame(E.get(), Wrong);
    };
    if (llvm::any_of(llvm::ArrayRef(Errors).take_front(I), IsWrong))
      continue; // blocks repeat what is wrong with a section they share
    for (const auto &[Id, Key] : NumberRows)
      if (Id == Wrong.Id)
        noteNumber(Errors[I], Key);
    noteWays(Errors[I]);
  }
}

void foretrace::noteRemedies(const Spec &Given, const Spec &Derived,
                             std::vector<DiagnosticBuilder> Errors,
                             const DiagnosticEngine &Diags) {
  Remedies(Given, Derived, std::move(Errors), Diags).note();
}
