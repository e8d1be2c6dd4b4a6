// SPDX-License-Identifier: Apache-2.0
#include "backends/report/Tiles.h"
#include "analysis/Bubble.h"
#include "analysis/DeviceMemory.h"
#include "analysis/FigureLimits.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::report;

/// Returns a cluster with room for the ranks of the job, which has none.
std::string TileMaker::clusterToAdd() const {
  constexpr int64_t DevicesPerNode = 8; // of clusters/h100.toml
  const int64_t Nodes =
      llvm::divideCeil(*P.Spec.Parallel.World, DevicesPerNode);
  return ("`import \"clusters/h100.toml\" as pod` and `cluster : pod { nodes "
          "= " +
          llvm::Twine(Nodes) + " }`")
      .str();
}

const Answer &TileMaker::answer(llvm::StringRef Name) const {
  static const Answer None = {nullptr, std::nullopt, "The job is text"};
  const auto It =
      llvm::find_if(All, [&](const Answer &A) { return A.From->Name == Name; });
  return It == All.end() ? None : *It;
}

std::optional<TileNumber> TileMaker::find(llvm::StringRef Name,
                                          llvm::StringRef Key) const {
  const std::optional<Figures> &Of = answer(Name).Of;
  const NamedFigure *Found = Of ? Of->find(Key) : nullptr;
  return Found
             ? std::optional(TileNumber{Found->Value, Found->Unit, &Of->Sizes})
             : std::nullopt;
}

/// Completes a tile without a number: why another backend has none.
Tile TileMaker::refused(Tile Of, llvm::StringRef Name) const {
  if (P.Spec.Cluster) {
    Of.Headline = {"Unknown"};
    Of.Reason = {answer(Name).Of ? "The memory of the device is unknown"
                                 : answer(Name).Refusal};
  } else {
    Of.Headline = {"Needs a cluster"};
    Of.Reason = {"Add a cluster"};
    Of.Why = clusterToAdd();
  }
  return Of;
}

/// Judges a tile, and appends the limit to its reason.
void TileMaker::judge(Tile &Of, const std::optional<FigureLimit> &By,
                      const TileNumber &Value, const llvm::Twine &What) const {
  if (!By)
    return;
  Of.IsGood = By->isKept(Value.Of.number());
  const bool IsMost = By->Is == FigureLimit::Bound::AtMost;
  Of.Reason.emplace_back(
      ("Limit" + What + (IsMost ? ": at most " : ": at least ")).str());
  Of.Reason.emplace_back(TileNumber{By->Value, Value.Unit});
  Of.Why = By->Why;
}

std::vector<MemoryPart> report::memoryParts(const Spec &S) {
  if (S.Serve) {
    std::vector<MemoryPart> Parts = {
        {"weights", "weights", palette::Weights},
        {"step", "the largest step", palette::Backward},
        {"pool", "the cache", palette::Forward}};
    if (S.Lora)
      Parts.push_back({"adapters", "adapters", palette::Update});
    return Parts;
  }
  return {{"weights", "weights", palette::Weights},
          {"gradients", "gradients", palette::BackwardWeight},
          {"optimizer", "optimizer state", palette::Update},
          {"dummy_wgrads", "dummy wgrad buffers", palette::BackwardWeightOdd},
          {"saved", "saved activations", palette::Forward},
          {"running", "running layer", palette::Backward},
          {"update", "update buffers", palette::UpdateBuffers}};
}

static llvm::StringRef colourOf(TimePart::Kind K) {
  switch (K) {
  case TimePart::Kind::Compute:
    return palette::Compute.Name;
  case TimePart::Kind::Collective:
  case TimePart::Kind::Messages:
    return palette::Communication.Name;
  case TimePart::Kind::Host:
    return palette::Host.Name;
  case TimePart::Kind::Waiting:
    return palette::Bubble.Name;
  }
  llvm_unreachable("every kind is handled");
}

/// Adds the parts of the memory of the stages of \p Row that are not zero.
void TileMaker::addParts(const std::vector<Figure> &Row, Tile &To) const {
  const Figures &F = *answer("memory").Of;
  const FigureTable &T = *F.findTable("stages");
  for (const MemoryPart &Of : memoryParts(P.Spec))
    if (const size_t I = T.columnOf(Of.Column); Row[I].number() != 0)
      To.Terms.push_back({Of.Title.str(),
                          {Row[I], T.Columns[I].Unit, &F.Sizes},
                          Of.Fill.Name});
}

/// Adds the parts of the largest peak, and its moment.
void TileMaker::addMemoryTerms(Tile &To) const {
  const Figures &F = *answer("memory").Of;
  const FigureTable &T = *F.findTable("stages");
  const Figure &Stages = F.find("peak_stages")->Value;
  for (const std::vector<Figure> &Row : T.Rows) {
    if (Row[0].Value != Stages.Value)
      continue;
    addParts(Row, To);
    To.Detail = {"stage " + exact(Stages) + ", in " +
                 std::get<std::string>(Row[T.columnOf("when")].Value)};
  }
}

/// Adds parts of the iteration; only communication if \p IsOfMessages.
void TileMaker::addTimeTerms(Tile &To, bool IsOfMessages) const {
  using Kind = TimePart::Kind;
  for (const TimePart &Of : Request.Figures.iteration().Parts)
    if (!IsOfMessages || Of.Is == Kind::Collective || Of.Is == Kind::Messages)
      To.Terms.push_back(
          {Of.Name, {Of.Time.value(), FigureUnit::Time}, colourOf(Of.Is)});
}

Tile TileMaker::room() const {
  Tile Of{"room", "Device memory", "memory"};
  const std::optional<TileNumber> Peak = find("memory", "peak");
  const std::optional<DeviceMemory> Device = deviceMemoryOf(P.Spec);
  if (!Peak || !P.Spec.Cluster) {
    Of = refused(std::move(Of), "memory");
    if (!P.Spec.Cluster)
      Of.Reason = {"Add a cluster: " + clusterToAdd()};
    Of.Why.clear();
    return Of;
  }
  if (!Device) {
    Of.Headline = {"Unknown"};
    Of.Reason = {
        "The memory of the device is unknown: add `memory` to the device"};
    return Of;
  }
  const __int128 Margin = Device->usable() - Peak->Of.number();
  Of.IsGood = Margin >= 0;
  Of.Headline = {std::string(Margin >= 0 ? "Fits" : "Does not fit")};
  Of.Detail = {TileNumber{Margin >= 0 ? Margin : -Margin, FigureUnit::Bytes},
               std::string(Margin >= 0 ? " free" : " too much")};
  const TileNumber Bytes = {Device->Bytes, FigureUnit::Bytes},
                   Reserved = {Device->Reserved, FigureUnit::Bytes};
  Of.Reason = {std::string("Peak of a rank: "),
               *Peak,
               std::string(" and "),
               Reserved,
               std::string(" besides tensors, of "),
               Bytes,
               std::string(" of its device")};
  if (!Of.IsGood.value())
    Of.Why = "`foretrace memory` lists the smallest changes with which it fits";
  Of.Terms = {{"device memory", Bytes},
              {"reserved, besides tensors", Reserved},
              {"peak memory per rank", *Peak}};
  return Of;
}

Tile TileMaker::peak() const {
  Tile Of{"peak", "Peak memory per rank", "memory"};
  const std::optional<TileNumber> Peak = find("memory", "peak");
  if (!Peak)
    return refused(std::move(Of), "memory");
  Of.Headline = {*Peak};
  addMemoryTerms(Of);
  judge(Of, limitOf(FigureId::Peak, P), *Peak);
  if (!Of.IsGood && P.Spec.Cluster)
    Of.Reason = {"The memory of the device is unknown"};
  if (!P.Spec.Cluster) {
    Of.Reason = {"Add a cluster"};
    Of.Why = clusterToAdd();
  }
  return Of;
}

Tile TileMaker::time() const {
  Tile Of{"time", "Time of an iteration", "timeline"};
  const std::optional<TileNumber> Time = find("time", "time"),
                                  Mfu = find("time", "mfu"),
                                  Uncertainty = find("time", "uncertainty");
  if (!Time)
    return refused(std::move(Of), "time");
  Of.Headline = {*Time};
  if (Mfu) {
    Of.Detail = {answer("time").Of->find("mfu")->Title + " ", *Mfu,
                 std::string(", both ") + BeforeHalfRange.str(), *Uncertainty,
                 AfterHalfRange.str()};
    judge(Of, limitOf(FigureId::Mfu, P), *Mfu, " of MFU");
  } else {
    Of.Detail = {BeforeHalfRange.str(), *Uncertainty, AfterHalfRange.str()};
    Of.Reason = {std::string("The peak rate of the device is unknown")};
  }
  addTimeTerms(Of, /*IsOfMessages=*/false);
  return Of;
}

/// The time for which a stage waits for others, if it is estimated: the part of
/// the bar of the iteration.
std::optional<Tile> TileMaker::waiting() const {
  const std::optional<Figures> &Time = answer("time").Of;
  if (!Time)
    return std::nullopt;
  Tile Of{"waiting", "Waiting for stages", "timeline"};
  const FigureTable &Parts = *Time->findTable("parts");
  TileNumber Share{int64_t(0), FigureUnit::Millionths, &Time->Sizes},
      Idle{int64_t(0), FigureUnit::Time, &Time->Sizes};
  for (const std::vector<Figure> &Row : Parts.Rows)
    if (std::get<std::string>(Row[Parts.columnOf("part")].Value) ==
        partName(TimePart::Kind::Waiting)) {
      Share.Of = Row[Parts.columnOf("share")];
      Idle.Of = Row[Parts.columnOf("time")];
    }
  Of.Headline = {Share};
  Of.Detail = {"of the iteration as estimated, on the stage with most work"};
  judge(Of, limitOf(FigureId::Bubble, P), Share);
  Of.Terms = {{"waiting for stages", Idle, palette::Bubble.Name},
              {"time of an iteration", *find("time", "time")}};
  return Of;
}

/// The bubble of a schedule of equal steps, if no time is estimated.
Tile TileMaker::bubble() const {
  if (std::optional<Tile> Timed = waiting())
    return std::move(*Timed);
  Tile Of{"bubble", "Pipeline bubble", "timeline"};
  const ExprTable &Sizes = Request.Figures.scope().Sizes;
  const Expr Bubble = Request.Figures.bubble();
  if (!Bubble.hasValue()) {
    Of.Headline = {"Unknown"};
    Of.Reason = {"The bubble exceeds 2^63 steps"};
    return Of;
  }
  const TileNumber Share{{Sizes, Bubble}, FigureUnit::Millionths, &Sizes};
  Of.Headline = {Share};
  Of.Detail = {"if a backward step takes twice as long as a forward step"};
  judge(Of, limitOf(FigureId::Bubble, P), Share);
  const Expr Idle = bubbleOf(Request.Figures.scope()),
             Work = stepsOf(Request.Figures.scope());
  if (Idle.hasValue() && Work.hasValue())
    Of.Terms = {{"idle steps",
                 {{Sizes, Idle}, FigureUnit::Count, &Sizes},
                 palette::Bubble.Name},
                {"steps of work",
                 {{Sizes, Work}, FigureUnit::Count, &Sizes},
                 palette::Compute.Name}};
  return Of;
}

Tile TileMaker::exposed() const {
  Tile Of{"exposed", "Exposed communication", "communication"};
  const std::optional<TileNumber> Exposed = find("time", "exposed");
  if (!Exposed)
    return refused(std::move(Of), "time");
  Of.Headline = {*Exposed};
  Of.Detail = {"of the iteration, on the stage with most work"};
  judge(Of, limitOf(FigureId::Exposed, P), *Exposed);
  addTimeTerms(Of, /*IsOfMessages=*/true);
  return Of;
}

Tile TileMaker::crossNode() const {
  Tile Of{"cross-node", "Cross-node share", "communication"};
  const std::optional<TileNumber> Share = find("volume", "cross_node_share");
  if (!Share)
    return refused(std::move(Of), "volume");
  const TileNumber Bytes = *find("volume", "cross_node");
  Of.Headline = {*Share};
  Of.Detail = {std::string("of the bytes sent: "), Bytes,
               std::string(" leave their node")};
  judge(Of, limitOfCrossNodeShare(P), *Share);
  if (Bytes.Of.number() == 0) {
    Of.IsGood = true;
    Of.Reason = {"Nothing leaves its node"};
  } else if (!Of.IsGood) {
    Of.Reason = {"No limit: the cluster has no rates to compare, one within "
                 "nodes and one between them"};
  }
  Of.Terms = {{"sent to other nodes", Bytes},
              {"sent by all ranks", *find("volume", "sent")}};
  return Of;
}

Tile TileMaker::throughput() const {
  Tile Of{"throughput", "Throughput", "timeline"};
  const std::optional<TileNumber> Tokens = find("time", "tokens_per_second"),
                                  Mfu = find("time", "mfu");
  if (!Tokens)
    return refused(std::move(Of), "time");
  const TileNumber Hours = *find("time", "device_hours");
  Of.Headline = {*Tokens, std::string(" tokens/s")};
  Of.Detail = {std::string("per device; "), Hours,
               std::string(" GPU hours per trillion tokens")};
  if (Mfu) {
    judge(Of, limitOf(FigureId::Mfu, P), *Mfu, " of MFU");
  } else {
    Of.Reason = {std::string("The peak rate of the device is unknown")};
  }
  Of.Terms = {{"tokens per device and second", *Tokens},
              {"GPU hours per trillion tokens", Hours},
              {"time of an iteration", *find("time", "time")}};
  return Of;
}

std::vector<Tile> TileMaker::make() const {
  if (P.Spec.Serve)
    return {cacheRoom(), sequences(), cache(), crossNode()};
  return {room(),    peak(),      time(),      bubble(),
          exposed(), crossNode(), throughput()};
}
