// SPDX-License-Identifier: Apache-2.0
#include "backends/perfetto/TrackWriter.h"
#include "analysis/LayerCounts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::perfetto;
using llvm::formatv;
using llvm::raw_ostream;
using llvm::StringRef;

TrackWriter::TrackWriter(const EmitRequest &Request, StepTime Time,
                         bool HasLayers)
    : Request(Request), P(Request.Program), Time(Time), HasLayers(HasLayers),
      Run(runSteps(P, P.Schedule, Time)) {}

static std::string quote(StringRef Text) {
  std::string Out;
  llvm::raw_string_ostream(Out) << llvm::json::Value(Text);
  return Out;
}

/// In microseconds, to the nanosecond; a step of one unit takes one.
static std::string microseconds(int64_t Of, StepTime Time) {
  if (Time == StepTime::Unit)
    return std::to_string(Of);
  const std::string Digits = std::to_string(Of % 1000);
  return std::to_string(Of / 1000) + "." + std::string(3 - Digits.size(), '0') +
         Digits;
}

void TrackWriter::name(StringRef What, StringRef Name, raw_ostream &OS) {
  OS << formatv("{{\"ph\":\"M\",\"pid\":{0},\"tid\":0,\"name\":\"{1}\","
                "\"args\":{{\"name\":{2}}}",
                Rank, What, quote(Name));
}

void TrackWriter::slice(StringRef Name, StringRef Category, int64_t Start,
                        int64_t End, StringRef Args, raw_ostream &OS) {
  OS << ",\n{\"ph\":\"X\",\"pid\":" << Rank
     << ",\"tid\":0,\"name\":" << quote(Name) << ",\"cat\":\"" << Category
     << "\",\"ts\":" << microseconds(Start, Time)
     << ",\"dur\":" << microseconds(End - Start, Time) << ",\"args\":{" << Args
     << "}}";
}

/// Of what begins together; the first one stands for all that they share.
std::string TrackWriter::argsOf(Actions Of) const {
  std::string Args;
  llvm::raw_string_ostream OS(Args);
  const Action &A = Of.front();
  OS << "\"micro_batch\":" << A.MicroBatch << ",\"chunk\":" << A.Chunk
     << ",\"part\":" << P.Schedule.partOf(Stage, A.Chunk) << ",\"phase\":\""
     << getName(A.Phase) << '"';
  if (isMessage(A.Kind))
    OS << ",\"bytes\":" << bytesOf(P, Stage, A) << ",\"peer_stage\":" << A.Peer;
  else
    OS << ",\"layers\":"
       << quote(describe(stageAt(P.Stages, Stage).layersOf(A.Chunk), P));
  const std::string Where =
      Request.Where ? Request.Where(placeOf(P.Spec, A)) : "";
  if (!Where.empty())
    OS << ",\"where\":" << quote(Where);
  if (Of.size() > 1)
    OS << ",\"with\":{\"action\":\"" << getName(Of[1].Kind) << "\","
       << argsOf(Of.drop_front()) << '}';
  return Args;
}

static StringRef categoryOf(ActionKind K) {
  if (isSend(K))
    return "send";
  if (isReceive(K))
    return "recv";
  return K == ActionKind::Forward ? "forward" : "backward";
}

TrackWriter::LayerTime TrackWriter::timeOf(BlockId Block, ActionKind Step) {
  auto [It, IsNew] = Known.try_emplace({Block.Index, Step});
  if (!IsNew)
    return It->second;
  const ir::Block &B = P.Blocks[Block];
  for (const auto &[O, Action] : llvm::zip_equal(B.Ops, actionsOf(B)))
    if (runs(Step, Action))
      (O.Phase == Phase::Recompute ? It->second.Recomputed : It->second.Rest) +=
          O.exposed().value();
  return It->second;
}

/// The layers of a chunk one after the other; backward the last one is first.
void TrackWriter::layers(const Action &Of, int64_t Start, raw_ostream &OS) {
  llvm::SmallVector<BlockId, 0> Layers;
  for (const LayerGroup &G : stageAt(P.Stages, Stage).layersOf(Of.Chunk))
    for (int64_t Period = 0; Period < G.Periods; ++Period)
      for (const BlockRun &R : G.Runs)
        Layers.append(static_cast<size_t>(R.Count), R.Block);
  const bool IsForward = Of.Kind == ActionKind::Forward;
  for (size_t I = 0; I < Layers.size(); ++I) {
    const size_t Layer = IsForward ? I : Layers.size() - 1 - I;
    const LayerTime Takes = timeOf(Layers[Layer], Of.Kind);
    const std::string Args = formatv("\"layer_of_chunk\":{0}", Layer);
    const std::string &Name = P.Blocks[Layers[Layer]].Name;
    if (Takes.Recomputed != 0)
      slice("recompute " + Name, "recompute", Start, Start + Takes.Recomputed,
            Args, OS);
    Start += Takes.Recomputed;
    slice(Name, categoryOf(Of.Kind), Start, Start + Takes.Rest, Args, OS);
    Start += Takes.Rest;
  }
}

void TrackWriter::span(const Timeline::Span &Of, raw_ostream &OS) {
  const Action &First = Of.Actions.front();
  std::string Name;
  for (const Action &A : Of.Actions)
    Name += (Name.empty() ? "" : " + ") + getName(A.Kind).str() + " " +
            std::to_string(A.MicroBatch);
  slice(Name, categoryOf(First.Kind), Of.Start, Of.End, argsOf(Of.Actions), OS);
  // Layers of steps that overlap do, too: nothing says when.
  if (HasLayers && Time == StepTime::Cost && isCompute(First.Kind) &&
      Of.Actions.size() == 1)
    layers(First, Of.Start, OS);
}

/// What a stage does once an iteration, as a slice of its ops.
void TrackWriter::step(int64_t Start, raw_ostream &OS) {
  const Block &B = P.Blocks[stageAt(P.Stages, Stage).Step];
  auto TimeOf = [&](const Op &O) {
    return Time == StepTime::Cost ? O.exposed().value() : 0;
  };
  int64_t End = Start;
  for (const Op &O : B.Ops)
    End += TimeOf(O);
  slice("step", "step", Start, End, "", OS);
  for (const Op &O : B.Ops) {
    const StringRef Name =
        O.Name.empty() ? getMnemonic(O.Kind) : StringRef(O.Name);
    if (!isCollective(O.Kind)) {
      slice(Name, "step", Start, Start + TimeOf(O), "", OS);
      Start += TimeOf(O);
      continue;
    }
    // Each bucket has its share of the time.
    const auto All = std::max<int64_t>(messageBytes(P, O).value(), 1);
    const int64_t First = Start;
    __int128 Sent = 0;
    for (const Bytes Size : messagesOf(P, O)) {
      Sent += Size.value();
      const int64_t Until =
          First + static_cast<int64_t>(TimeOf(O) * Sent / All);
      slice(Name, "step", Start, Until,
            formatv("\"group\":\"{0}\",\"bytes\":{1}",
                    textOf(O.Group, P.Spec, P.Mesh), Size.value())
                .str(),
            OS);
      Start = Until;
    }
    Start = First + TimeOf(O);
  }
}

void TrackWriter::write(int64_t OfRank, int64_t OfStage, raw_ostream &OS) {
  Rank = OfRank;
  Stage = OfStage;
  name("process_name", formatv("rank {0}, stage {1}", Rank, Stage).str(), OS);
  OS << ",\n";
  name("thread_name", "schedule", OS);
  OS << formatv(",\n{{\"ph\":\"M\",\"pid\":{0},\"name\":\"process_sort_index\","
                "\"args\":{{\"sort_index\":{0}}}",
                Rank);
  for (const Timeline::Span &Of : Run.spans(Stage))
    span(Of, OS);
  step(Run.spans(Stage).empty() ? 0 : Run.spans(Stage).back().End, OS);
}
