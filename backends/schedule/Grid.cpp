// SPDX-License-Identifier: Apache-2.0
//
// A schedule for a terminal:
//
//   stage |0        5
//       0 |F0 F1 .  .  B0--- B1---
//       1 |.  F0 B0--- F1 B1--- .
#include "backends/schedule/Writers.h"
#include "ir/model/Cells.h"
#include "ir/model/Spellings.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::schedule;
using llvm::formatv;

namespace {

class Grid {
public:
  Grid(const Schedule &S, const PipelineFigures &F);

  void write(llvm::raw_ostream &OS) const;

private:
  /// Characters of a band: longer rows go on in the next one.
  static constexpr size_t BandWidth = 100;
  static constexpr size_t LabelWidth = 5; ///< of a row's

  std::string label(int64_t Stage, const Span &Of) const;
  std::string row(int64_t Stage) const;
  std::string axis() const;

  const Schedule &S;
  const PipelineFigures &F;
  size_t Width = 2; ///< of a unit of time
};

} // namespace

/// `F0`; `2F0` of part 2 if a stage has several; `F3+B1` of steps that overlap.
std::string Grid::label(int64_t Stage, const Span &Of) const {
  std::string Out;
  llvm::raw_string_ostream OS(Out);
  llvm::interleave(
      Of.Steps, OS,
      [&](const Action &A) {
        std::string Text;
        llvm::raw_string_ostream(Text)
            << Cell{*cellOf(A.Kind), S.partOf(Stage, A.Chunk), A.MicroBatch};
        OS << (S.Chunks > 1 ? llvm::StringRef(Text)
                            : llvm::StringRef(Text).ltrim("0123456789"));
      },
      "+");
  return Out;
}

Grid::Grid(const Schedule &S, const PipelineFigures &F) : S(S), F(F) {
  for (const auto &[Stage, Of] : llvm::enumerate(F.Stages))
    for (const Span &At : Of.Spans) {
      const auto Units = static_cast<size_t>(At.End - At.Start);
      const size_t Size = label(static_cast<int64_t>(Stage), At).size() + 1;
      Width = std::max(Width, (Size + Units - 1) / Units);
    }
}

std::string Grid::row(int64_t Stage) const {
  std::string Out;
  auto Idle = [&](int64_t Until) {
    while (Out.size() < static_cast<size_t>(Until) * Width)
      Out += "." + std::string(Width - 1, ' ');
  };
  for (const Span &At : F.Stages[static_cast<size_t>(Stage)].Spans) {
    Idle(At.Start);
    Out += label(Stage, At);
    Out.resize(static_cast<size_t>(At.End) * Width - 1, '-');
    Out += ' ';
  }
  Idle(F.Makespan);
  return Out;
}

/// The time at every fifth unit.
std::string Grid::axis() const {
  std::string Out;
  for (int64_t Time = 0; Time < F.Makespan; Time += 5) {
    Out.resize(static_cast<size_t>(Time) * Width, ' ');
    Out += std::to_string(Time);
  }
  Out.resize(static_cast<size_t>(F.Makespan) * Width, ' ');
  return Out;
}

void Grid::write(llvm::raw_ostream &OS) const {
  std::vector<std::string> Rows = {axis()};
  for (int64_t Stage = 0; Stage < S.Stages; ++Stage)
    Rows.push_back(row(Stage));
  const size_t Band = BandWidth / Width * Width;
  for (size_t From = 0; From < Rows.front().size(); From += Band) {
    OS << (From == 0 ? "" : "\n");
    for (const auto &[I, Row] : llvm::enumerate(Rows)) {
      const std::string Label = I == 0 ? "stage" : std::to_string(I - 1);
      OS.indent(LabelWidth - static_cast<unsigned>(Label.size())) << Label;
      OS << " |" << llvm::StringRef(Row).substr(From, Band).rtrim() << '\n';
    }
  }
}

/// The figures in words.
static void writeSummary(const Schedule &S, const PipelineFigures &F,
                         llvm::raw_ostream &OS) {
  OS << formatv("span {0}: {1} busy and {2} idle, bubble {3:f1} %; a stage is "
                "idle for at most {4} between its steps\n",
                F.Makespan, F.Work, F.bubble(),
                100.0 * static_cast<double>(F.bubble()) /
                    static_cast<double>(std::max<int64_t>(F.Makespan, 1)),
                F.SpanBubble);
  auto Peaks = [&](llvm::StringRef What, int64_t StageFigures::*Peak) {
    OS << "peak number of "
       << (S.Chunks > 1 ? "chunks x micro-batches" : "micro-batches")
       << " in flight per stage" << What << ':';
    for (const StageFigures &Of : F.Stages)
      OS << ' ' << Of.*Peak;
    OS << '\n';
  };
  Peaks("", &StageFigures::PeakUntilWeights);
  if (llvm::any_of(F.Stages, [](const StageFigures &Of) {
        return Of.PeakUntilInputs != Of.PeakUntilWeights;
      }))
    Peaks(" until the gradients of their inputs",
          &StageFigures::PeakUntilInputs);
}

void schedule::writeGrid(const Schedule &S, const PipelineFigures &F,
                         llvm::raw_ostream &OS) {
  Grid(S, F).write(OS);
  writeSummary(S, F, OS);
}
