// SPDX-License-Identifier: Apache-2.0
#include "analysis/LayerCounts.h"
#include "analysis/StepTimes.h"
#include "backends/Palette.h"
#include "backends/ranks/StepRun.h"
#include "backends/report/Parts.h"
#include "ir/model/Boundary.h"
#include "ir/ranks/StepOps.h"
#include "ir/schedule/FoldSchedule.h"
#include "llvm/Support/FormatVariadic.h"

using namespace foretrace;
using namespace foretrace::ir;
using llvm::formatv;

namespace {

/// A schedule that is small enough to be run, and what of a job it shows.
struct Drawn {
  ir::Schedule Schedule;
  StepTime Time = StepTime::Unit;
  std::string Note; ///< names omitted parts; empty if there are none
  bool IsOfAll = true;
};

class Picture {
public:
  Picture(const EmitRequest &Request, Drawn Of, llvm::json::OStream &J)
      : Request(Request), P(Request.Program), Of(std::move(Of)), J(J) {}

  void write();

private:
  static constexpr int64_t EndStages = 8; ///< drawn at each end
  static constexpr size_t EndSpans = 200; ///< of a stage, at each end

  int64_t stageOf(int64_t Drawn) const;
  int64_t chunkOf(int64_t Drawn) const;
  void stage(const Timeline &Run, int64_t Stage);
  void span(const Timeline::Span &At);
  void style(ActionKind Of, llvm::ArrayRef<llvm::StringRef> Style);
  void part(int64_t Stage, int64_t Chunk);
  void communication(const CommunicationTime &Of);
  void update(int64_t Stage, int64_t Start);

  const EmitRequest &Request;
  const Program &P;
  const Drawn Of;
  llvm::json::OStream &J;
  int64_t End = 0; ///< of the last update
};

} // namespace

static int64_t stepsOf(const Schedule &S) {
  const Elements Steps = Elements(S.steps()) * 2 * S.Stages;
  return Steps.isOverflow() ? INT64_MAX : Steps.value();
}

/// The whole schedule of a job that is small, else the same programs with less
/// to do; nothing if none is small enough.
static std::optional<Drawn> choose(const Program &P) {
  constexpr int64_t MaxSteps = int64_t(1) << 15;
  const Schedule &S = P.Schedule;
  const StepTime Best =
      timeOfSteps(P).isOverflow() ? StepTime::Unit : bestTimeOf(P);
  if (stepsOf(S) <= MaxSteps)
    return Drawn{S, Best, "", true};
  Drawn Fewer{foldMicroBatches(S), Best, "", false};
  if (stepsOf(Fewer.Schedule) <= MaxSteps) {
    Fewer.Note = formatv("Drawn with {0} of {1} micro-batches; the others "
                         "repeat the steady state of the pipeline.",
                         Fewer.Schedule.MicroBatches, S.MicroBatches);
    return Fewer;
  }
  Drawn Few{foldSizes(S), StepTime::Unit, "", false};
  if (stepsOf(Few.Schedule) > MaxSteps)
    return std::nullopt;
  Few.Note = formatv(
      "Drawn as a smaller pipeline of the same kind, with steps of "
      "one length: {0} stages for {1}, the first and the last by "
      "their numbers, and {2} micro-batches for {3}.",
      Few.Schedule.Stages, S.Stages, Few.Schedule.MicroBatches, S.MicroBatches);
  return Few;
}

/// Returns which of \p All the \p Drawn-th of \p Few represents: those at the
/// ends keep their place.
static int64_t unfold(int64_t Drawn, int64_t Few, int64_t All) {
  return Drawn < (Few + 1) / 2 ? Drawn : All - (Few - Drawn);
}

int64_t Picture::stageOf(int64_t Drawn) const {
  return unfold(Drawn, Of.Schedule.Stages, P.Schedule.Stages);
}
int64_t Picture::chunkOf(int64_t Drawn) const {
  return unfold(Drawn, Of.Schedule.Chunks, P.Schedule.Chunks);
}

/// Writes the start, the end, and each step's kind, micro-batch and chunk.
void Picture::span(const Timeline::Span &At) {
  J.array([&] {
    J.value(At.Start);
    J.value(At.End);
    for (const Action &A : At.Actions) {
      J.value(static_cast<int64_t>(A.Kind));
      J.value(A.MicroBatch);
      J.value(chunkOf(A.Chunk));
    }
  });
}

void Picture::stage(const Timeline &Run, int64_t Stage) {
  std::vector<const Timeline::Span *> Steps;
  for (const Timeline::Span &At : Run.spans(Stage))
    if (isCompute(At.Actions.front().Kind))
      Steps.push_back(&At);
  const bool IsCut = Steps.size() > 2 * EndSpans;
  J.attribute("stage", stageOf(Stage));
  J.attributeArray("steps", [&] {
    for (size_t I = 0; I < Steps.size(); ++I)
      if (!IsCut || I < EndSpans || I >= Steps.size() - EndSpans)
        span(*Steps[I]);
  });
  if (IsCut)
    J.attributeArray("gap", [&] {
      J.value(Steps[EndSpans - 1]->End);
      J.value(Steps[Steps.size() - EndSpans]->Start);
      J.value(static_cast<int64_t>(Steps.size() - 2 * EndSpans));
    });
  if (Of.Time == StepTime::Cost)
    update(stageOf(Stage), Steps.empty() ? 0 : Steps.back()->End);
}

/// Writes the exposed and the hidden time, unless they exceed 2^63 ns.
void Picture::communication(const CommunicationTime &Of) {
  if (!Of.Exposed.isOverflow() && !Of.Hidden.isOverflow())
    J.attributeArray("communication", [&] {
      J.value(Of.Exposed.value());
      J.value(Of.Hidden.value());
    });
}

/// Writes the update, once an iteration, after the steps of a stage.
void Picture::update(int64_t Stage, int64_t Start) {
  const Block &B = P.Blocks[stageAt(P.Stages, Stage).Step];
  const Nanoseconds Time = updateTime(B);
  if (Time.isOverflow() || Time.value() > INT64_MAX - Start)
    return;
  End = std::max(End, Start + Time.value());
  J.attributeObject("update", [&] {
    J.attribute("start", Start);
    J.attribute("end", Start + Time.value());
    communication(communicationOf(B));
  });
}

/// Writes a kind of step: letter, colours of even and odd chunks, and word.
void Picture::style(ActionKind Of, llvm::ArrayRef<llvm::StringRef> Style) {
  J.attributeArray(getName(Of), [&] {
    for (llvm::StringRef Text : Style)
      J.value(Text);
  });
}

/// Writes the stage, chunk, part and layers of steps, for tooltips.
void Picture::part(int64_t Stage, int64_t Chunk) {
  const int64_t Part = P.Schedule.partOf(Stage, Chunk);
  J.attribute("stage", Stage);
  J.attribute("chunk", Chunk);
  J.attribute("part", Part);
  J.attribute("layers", describe(stageAt(P.Stages, Stage).layersOf(Chunk), P));
  auto Bytes = [&](int64_t After, bool IsForward) {
    return boundaryBytes(P, boundaryAfter(P, After, IsForward)).value();
  };
  J.attribute("forward_bytes", Bytes(Part, /*IsForward=*/true));
  J.attribute("backward_bytes",
              Part == 0 ? 0 : Bytes(Part - 1, /*IsForward=*/false));
  if (Of.Time != StepTime::Cost)
    return;
  const LayerSequence &Layers = stageAt(P.Stages, Stage).layersOf(Chunk);
  J.attributeArray("steps", [&] { // by kind
    for (unsigned K = 0; K < NumActionKinds; ++K)
      J.object([&] {
        if (const auto Step = static_cast<ActionKind>(K); isCompute(Step))
          communication(communicationOf(P, Layers, Step));
      });
  });
}

void Picture::write() {
  const Timeline Run = runSteps(P, Of.Schedule, Of.Time);
  const int64_t Stages = Of.Schedule.Stages;
  std::vector<int64_t> Shown;
  for (int64_t Stage = 0; Stage < Stages; ++Stage)
    if (Stage < EndStages || Stage >= Stages - EndStages)
      Shown.push_back(Stage);
  J.attribute("unit", Of.Time == StepTime::Unit ? "step" : "ns");
  J.attribute("note", Of.Note);
  J.attribute("stages_left_out", Stages - static_cast<int64_t>(Shown.size()));
  J.attribute("is_all", Of.IsOfAll);
  J.attributeArray("kinds", [&] {
    for (unsigned K = 0; K < NumActionKinds; ++K)
      J.value(getName(static_cast<ActionKind>(K)));
  });
  J.attributeObject("styles", [&] {
#define STEP_STYLE(KIND, LETTER, COLOUR, PALE, DOC)                            \
  style(ActionKind::KIND,                                                      \
        {LETTER, palette::COLOUR.Name, palette::PALE.Name, DOC});
#include "backends/ranks/StepStyles.def"
  });
  J.attributeArray("stages", [&] {
    for (const int64_t Stage : Shown)
      J.object([&] { stage(Run, Stage); });
  });
  J.attribute("length", std::max(End, Run.length()));
  J.attributeArray("parts", [&] {
    for (const int64_t Stage : Shown)
      for (int64_t Chunk = 0; Chunk < Of.Schedule.Chunks; ++Chunk)
        J.object([&] { part(stageOf(Stage), chunkOf(Chunk)); });
  });
  if (Request.Where)
    J.attribute("where", Request.Where(P.Spec.Model.LayersRange));
}

void report::writePicture(const EmitRequest &Request, llvm::json::OStream &J) {
  std::optional<Drawn> Of = choose(Request.Program);
  if (!Of)
    return;
  J.attributeObject("picture",
                    [&] { Picture(Request, std::move(*Of), J).write(); });
}
