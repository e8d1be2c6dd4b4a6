// SPDX-License-Identifier: Apache-2.0
#include "llvm/Support/JSON.h"
#include "backends/schedule/Writers.h"
#include "ir/model/Spellings.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::schedule;

static void writeStage(const Schedule &S, int64_t Stage, const StageFigures &Of,
                       llvm::json::OStream &J) {
  J.attribute("stage", Stage);
  J.attribute("start", Of.start());
  J.attribute("end", Of.end());
  J.attribute("work", Of.Work);
  J.attribute("peak_until_weights", Of.PeakUntilWeights);
  J.attribute("peak_until_inputs", Of.PeakUntilInputs);
  J.attributeArray("actions", [&] {
    for (const Span &At : Of.Spans)
      for (const Action &A : At.Steps)
        J.object([&] {
          J.attribute("action", getName(A.Kind));
          J.attribute("start", At.Start);
          J.attribute("end", At.End);
          J.attribute("micro_batch", A.MicroBatch);
          J.attribute("chunk", A.Chunk);
          J.attribute("part", S.partOf(Stage, A.Chunk));
          if (At.Steps.size() > 1)
            J.attribute("overlapped", true);
        });
  });
}

void schedule::writeJSON(const Schedule &S, const PipelineFigures &F,
                         llvm::raw_ostream &OS) {
  llvm::json::OStream J(OS, 2);
  J.object([&] {
    J.attribute("schema", "foretrace.schedule/1");
    J.attribute("kind", getSpelling(S.Kind));
    J.attribute("placement", getSpelling(S.Placement));
    J.attribute("pp", S.Stages);
    J.attribute("chunks_per_stage", S.Chunks);
    J.attribute("micro_batches", S.MicroBatches);
    J.attribute("unit", F.Time == StepTime::Unit ? "step" : "ns");
    J.attribute("makespan", F.Makespan);
    J.attribute("work", F.Work);
    J.attribute("idle", F.bubble());
    J.attribute("span_idle", F.SpanBubble);
    J.attributeArray("stages", [&] {
      for (int64_t Stage = 0; Stage < S.Stages; ++Stage)
        J.object([&] {
          writeStage(S, Stage, F.Stages[static_cast<size_t>(Stage)], J);
        });
    });
  });
  J.flush();
  OS << '\n';
}
