// SPDX-License-Identifier: Apache-2.0
#include "backends/volume/Tables.h"
#include "analysis/ExpertLoads.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::volume;

Tables::Tables(FlowCounter &Of, ExprTable &Sizes, const EmitRequest &Request)
    : Of(Of), Sizes(Sizes), Request(Request), P(Of.program()) {
  for (const Flow &F : Of.flows()) {
    Traffics.push_back(Of.trafficOf(F));
    All += Traffics.back();
  }
}

/// Returns the figure, with its sum if that is below 2^63 and rounded alike.
Figure Tables::figure(const Amount &Of) const {
  const ExprId Sum = Sizes.sum(Of.Terms);
  if (Sizes.value(Sum) != NoValue && Sizes.value(Sum) == Of.Value)
    return {Sizes, Sum};
  return Of.Value;
}

/// Returns the key with the number of ranks along an axis.
static const Located<int64_t> *fieldOf(const ParallelSpec &P, Axis A) {
  switch (A) {
  case Axis::Tp:
    return &P.Tp;
  case Axis::Cp:
    return &P.Cp;
  case Axis::Dp:
  case Axis::DpReplicate:
    return P.isHybrid() ? &P.DpShard : &P.Dp;
  case Axis::Etp:
    return &P.Etp;
  case Axis::Ep:
    return &P.Ep;
  case Axis::Pp:
    return &P.Pp;
  case Axis::Edp:
    return nullptr;
  }
  llvm_unreachable("every axis is handled");
}

std::string Tables::keysOf(const Flow &F) const {
  std::vector<std::string> Keys;
  for (Axis A : F.Of.Axes)
    if (P.Mesh[A] != 1)
      Keys.push_back(
          ((A == Axis::Dp && P.Spec.Parallel.isHybrid() ? "dp_shard"
                                                        : getName(A)) +
           " = " + llvm::Twine(P.Mesh[A]))
              .str());
  return llvm::join(Keys, ", ");
}

/// A size that no key sets follows from `world`.
std::string Tables::placesOf(const Flow &F) const {
  std::vector<std::string> Places;
  for (Axis A : F.Of.Axes) {
    const Located<int64_t> *Field = fieldOf(P.Spec.Parallel, A);
    if (P.Mesh[A] == 1)
      continue;
    if (!Field || !Field->Range.isValid())
      Field = &P.Spec.Parallel.World;
    const std::string Place =
        Request.Where ? Request.Where(Field->Range) : std::string();
    if (!Place.empty() && !llvm::is_contained(Places, Place))
      Places.push_back(Place);
  }
  return llvm::join(Places, ", ");
}

static std::string collectiveOf(const Flow &F) {
  return F.By ? getMnemonic(*F.By).str() : "send";
}

static std::string phaseOf(const Flow &F) {
  return F.In ? getName(*F.In).str() : "pipeline";
}

Tables::Rows Tables::rowsBy(Namer NamesOf) {
  Rows Found;
  for (const auto &[F, T] : llvm::zip_equal(Of.flows(), Traffics)) {
    std::vector<std::string> Names = NamesOf(F);
    auto It =
        llvm::find_if(Found, [&](const Row &R) { return R.Names == Names; });
    if (It == Found.end())
      Found.push_back({std::move(Names), &F, T});
    else
      It->Sum += T;
  }
  llvm::stable_sort(Found, [&](const Row &A, const Row &B) {
    return std::pair(weightOf(A.Sum), A.Sum.Sent.Value) >
           std::pair(weightOf(B.Sum), B.Sum.Sent.Value);
  });
  return Found;
}

void Tables::addColumns(std::vector<FigureColumn> &To) const {
  To.push_back({"message", FigureUnit::Bytes});
  To.push_back({"sent", FigureUnit::Bytes});
  if (hasCluster())
    To.push_back({"cross_node", FigureUnit::Bytes});
}

void Tables::addTraffic(const Traffic &T, std::vector<Figure> &Row) const {
  Row.push_back(figure(T.Message));
  Row.push_back(figure(T.Sent));
  if (hasCluster())
    Row.emplace_back(T.CrossNode);
}

FigureTable Tables::causes() {
  FigureTable T{"causes",
                "all ranks, by the keys of the job that cause the volume",
                columns({{FigureUnit::Text, "keys at"}}),
                {}};
  addColumns(T.Columns);
  T.Columns.push_back({"share", FigureUnit::Millionths});
  for (const Row &R :
       rowsBy([&](const Flow &F) { return std::vector{keysOf(F)}; })) {
    std::vector<Figure> Cells = {{R.Names[0]}, {placesOf(*R.First)}};
    addTraffic(R.Sum, Cells);
    Cells.emplace_back(millionths(weightOf(R.Sum), weightOf(All)));
    T.Rows.push_back(std::move(Cells));
  }
  return T;
}

FigureTable Tables::groups() {
  FigureTable T{
      "groups",
      "all ranks, by kind of group",
      {{"group", FigureUnit::Text}, {"size", FigureUnit::Count, "ranks"}},
      {}};
  addColumns(T.Columns);
  for (const Row &R : rowsBy([&](const Flow &F) {
         return std::vector{textOf(F.Of, P.Spec, P.Mesh)};
       })) {
    std::vector<Figure> Cells = {{R.Names[0]}, {R.First->Of.size(P.Mesh)}};
    addTraffic(R.Sum, Cells);
    T.Rows.push_back(std::move(Cells));
  }
  return T;
}

FigureTable Tables::phases() {
  FigureTable T{
      "phases", "all ranks, by phase", {{"phase", FigureUnit::Text}}, {}};
  addColumns(T.Columns);
  for (const Row &R :
       rowsBy([](const Flow &F) { return std::vector{phaseOf(F)}; })) {
    std::vector<Figure> Cells = {{R.Names[0]}};
    addTraffic(R.Sum, Cells);
    T.Rows.push_back(std::move(Cells));
  }
  return T;
}

FigureTable Tables::collectives() {
  FigureTable T{"collectives",
                "all ranks, by group, collective and phase",
                columns({{FigureUnit::Text, "group collective phase"}}),
                {},
                3};
  addColumns(T.Columns);
  for (const Row &R : rowsBy([&](const Flow &F) {
         return std::vector{textOf(F.Of, P.Spec, P.Mesh), collectiveOf(F),
                            phaseOf(F)};
       })) {
    std::vector<Figure> Cells(R.Names.begin(), R.Names.end());
    addTraffic(R.Sum, Cells);
    T.Rows.push_back(std::move(Cells));
  }
  return T;
}

FigureTable Tables::stages() {
  FigureTable T{
      "stages",
      "mean of the ranks, and per group, of each stage",
      columns({{FigureUnit::Text, "stages group collective"},
               {FigureUnit::Count, "ranks"},
               {FigureUnit::Bytes, "mean_message mean_sent sent_by_group"}}),
      {},
      3};
  const std::vector<Flow> Flows = Of.withoutPhases();
  for (const auto &[Index, F] : llvm::enumerate(Flows)) {
    // Exchanges of copies of tokens are flows of their own.
    auto IsAlike = [&, &F = F](const Flow &Other) {
      return Other.Stage == F.Stage && Other.Of == F.Of && Other.By == F.By;
    };
    if (llvm::any_of(llvm::ArrayRef(Flows).take_front(Index), IsAlike))
      continue;
    Expr Message = F.Message;
    Amount ByRank = Of.sentByRank(F), ByGroup = Of.sentByGroup(F);
    for (const Flow &Other : llvm::ArrayRef(Flows).drop_front(Index + 1))
      if (IsAlike(Other)) {
        Message += Other.Message;
        ByRank += Of.sentByRank(Other);
        ByGroup += Of.sentByGroup(Other);
      }
    T.Rows.push_back({stagesOf(P.Stages[F.Stage]),
                      {textOf(F.Of, P.Spec, P.Mesh)},
                      {collectiveOf(F)},
                      {Of.ranksOf(F)},
                      {Message.table(), Message},
                      figure(ByRank),
                      figure(ByGroup)});
  }
  return T;
}

FigureTable Tables::tiers() {
  FigureTable T{"tiers",
                "all ranks, by tier of the cluster",
                {{"tier", FigureUnit::Text},
                 {"sent", FigureUnit::Bytes},
                 {"share", FigureUnit::Millionths}},
                {}};
  for (const auto &[Tier, Sent] : llvm::zip(P.Spec.Cluster->Tiers, All.ByTier))
    T.Rows.push_back({{Tier.Name}, {Sent}, {millionths(Sent, All.Sent.Value)}});
  return T;
}

FigureTable Tables::groupsOfTiers() {
  FigureTable T{"tier_groups",
                "all ranks, by tier and kind of group",
                columns({{FigureUnit::Text, "tier group"},
                         {FigureUnit::Bytes, "sent"},
                         {FigureUnit::Millionths, "share"}}),
                {},
                2};
  const Rows Groups = rowsBy(
      [&](const Flow &F) { return std::vector{textOf(F.Of, P.Spec, P.Mesh)}; });
  for (const auto &[I, Tier] : llvm::enumerate(P.Spec.Cluster->Tiers))
    for (const Row &R : Groups)
      if (const __int128 Sent = R.Sum.ByTier[I]; Sent != 0)
        T.Rows.push_back({{Tier.Name},
                          {R.Names[0]},
                          {Sent},
                          {millionths(Sent, All.ByTier[I])}});
  return T;
}

/// Returns the bytes that ranks exchange with experts, by position along ep.
FigureTable Tables::exchanges() {
  FigureTable T{"exchanges",
                "exchange of tokens with experts, per rank of each stage",
                columns({{FigureUnit::Text, "stages ep_rank"},
                         {FigureUnit::Millionths, "load"},
                         {FigureUnit::Bytes, "sent received"}}),
                {},
                2};
  const std::vector<int64_t> Loads = expertLoads(P);
  for (const auto &[Index, S] : llvm::enumerate(P.Stages)) {
    const auto Stage = static_cast<unsigned>(Index);
    for (const auto &[Rank, Each] : llvm::enumerate(expertExchanges(Of, Stage)))
      T.Rows.push_back({stagesOf(S),
                        {std::to_string(Rank)},
                        {Loads[Rank]},
                        {Each.Sent},
                        {Each.Received}});
  }
  return T;
}

/// `62 % of cross-node bytes come from job.fore:14 (ep = 64)`; nothing if no
/// byte is sent.
std::string Tables::sentence() {
  const Rows Causes =
      rowsBy([&](const Flow &F) { return std::vector{keysOf(F)}; });
  if (weightOf(All) == 0)
    return "";
  const Row &Most = Causes.front();
  const __int128 Percent =
      (weightOf(Most.Sum) * 200 + weightOf(All)) / (weightOf(All) * 2);
  const bool IsOfNodes = hasCluster() && All.CrossNode != 0;
  const std::string Place = placesOf(*Most.First);
  return toString(Percent) + " % of " +
         (IsOfNodes ? "cross-node bytes" : "bytes sent") + " come from " +
         (Place.empty() ? Most.Names[0] : Place + " (" + Most.Names[0] + ")");
}

std::vector<NamedFigure> Tables::named() {
  std::vector<NamedFigure> F;
  F.push_back({"message", "messages of all ranks", FigureUnit::Bytes,
               figure(All.Message)});
  F.push_back(
      {"sent", "sent by all ranks", FigureUnit::Bytes, figure(All.Sent)});
  if (hasCluster()) {
    F.push_back({"cross_node", "sent to other nodes", FigureUnit::Bytes,
                 All.CrossNode});
    F.push_back({"cross_node_share", "share sent to other nodes",
                 FigureUnit::Millionths,
                 millionths(All.CrossNode, All.Sent.Value)});
  }
  if (std::string Text = sentence(); !Text.empty())
    F.push_back({"most", "largest cause", FigureUnit::Text, std::move(Text)});
  return F;
}

std::vector<FigureTable> Tables::tables() {
  std::vector<FigureTable> Tables = {causes(), groups(), phases(),
                                     collectives(), stages()};
  if (hasCluster()) {
    Tables.push_back(tiers());
    Tables.push_back(groupsOfTiers());
  }
  if (P.Spec.Train.ExpertLoad.isPresent())
    Tables.push_back(exchanges());
  return Tables;
}
