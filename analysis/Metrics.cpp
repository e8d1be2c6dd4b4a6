// SPDX-License-Identifier: Apache-2.0
#include "analysis/Metrics.h"
#include "analysis/Bubble.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

llvm::ArrayRef<Metric> foretrace::allMetrics() {
  static const std::vector<Metric> Metrics = [] {
    std::vector<Metric> All = {
#define STAGE_TOTAL(MEMBER, TYPE, WORD, DOC)                                   \
  {WORD, DOC, std::is_same_v<TYPE, ByteExpr>},
#include "ir/model/Totals.def"
        {"in_flight",
         "micro-batches of all chunks that a stage has on their way at most",
         false},
        {"bubble",
         "millionths of an iteration that a stage waits if all take as long, "
         "and twice as long backward",
         false},
        {"messages", "bytes that one rank sends in an iteration", true},
    };
    for (llvm::StringRef Group : allGroupNames()) {
      std::string Name = ("messages_" + Group).str();
      std::replace(Name.begin(), Name.end(), '-', '_'); // a word in SQL
      All.push_back(
          {std::move(Name), ("those among the ranks of " + Group).str(), true});
    }
    return All;
  }();
  return Metrics;
}

/// The most that a stage has of what \p Of says of each.
template <typename FnT> static Expr mostOf(ExprScope P, FnT Of) {
  Expr Most = Of(P->Stages.front());
  for (const Stage &S : llvm::drop_begin(P->Stages))
    Most = max(Most, Of(S));
  return Most;
}

/// What a stage sends among the groups for which \p IsMeant.
template <typename FnT>
static Expr sentBy(ExprScope P, const Stage &S, FnT IsMeant) {
  llvm::SmallVector<ExprId, 8> Sizes;
  for (const GroupBytes &G : S.Totals.Messages)
    if (IsMeant(G.Of))
      Sizes.push_back(G.Size.Id);
  return sumOf(P, Sizes);
}

std::vector<ExprId> foretrace::metricsOf(ExprScope P) {
  std::vector<ExprId> Metrics;
#define STAGE_TOTAL(MEMBER, ...)                                               \
  Metrics.push_back(mostOf(                                                    \
      P, [&](const Stage &S) { return Expr(P.Sizes, S.Totals.MEMBER.Id); }));
#include "ir/model/Totals.def"
  Metrics.push_back(mostOf(P, [&](const Stage &S) {
    const auto Kind = static_cast<unsigned>(&S - P->Stages.data());
    return Expr(P.Sizes,
                *P.Sizes.find({KeyId::StageInFlight, Key::NoBlock, Kind}));
  }));
  Metrics.push_back(bubbleShareOf(P));
  auto MostSent = [&](auto IsMeant) {
    Metrics.push_back(
        mostOf(P, [&](const Stage &S) { return sentBy(P, S, IsMeant); }));
  };
  MostSent([](const Group &) { return true; });
  for (llvm::StringRef Name : allGroupNames())
    MostSent([&](const Group &Of) { return Of.name(P->Spec) == Name; });
  return Metrics;
}
