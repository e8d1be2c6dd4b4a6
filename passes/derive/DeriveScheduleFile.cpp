// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that concerns a schedule file: every stage runs each
// micro-batch through each of its parts once, forward and backward. Whether it
// can in that order is the verifier's to say.
#include "ir/model/Schedule.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "passes/derive/Deriver.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace foretrace;
using namespace foretrace::ir;
using llvm::formatv;

/// Steps of a file that have been read so far.
struct foretrace::FileSteps {
  Schedule Sizes; ///< of the job; no programs
  using Name = std::tuple<unsigned, int64_t, int64_t>;
  llvm::DenseMap<Name, std::pair<Cell, SourceRange>> Seen;

  static Name nameOf(const Cell &C) {
    return {static_cast<unsigned>(C.Kind), C.Part, C.MicroBatch};
  }
  /// Sizes that a step went beyond: reported once each.
  bool IsPartWrong = false, IsMicroBatchWrong = false;

  bool has(const Cell &C) const { return Seen.count(nameOf(C)) != 0; }
};

static std::string text(const Cell &C) {
  std::string Out;
  llvm::raw_string_ostream(Out) << C;
  return Out;
}

/// Returns the halves that a step computes: both for a full backward step.
static llvm::SmallVector<CellKind, 2> halvesOf(CellKind K) {
  if (K == CellKind::Backward)
    return {CellKind::BackwardInput, CellKind::BackwardWeight};
  return {K};
}

/// Returns whether a step on \p Stage's line has a part of that stage and a
/// micro-batch of the job.
bool Deriver::checkFilePlace(const Cell &C, int64_t Stage, SourceRange At,
                             FileSteps &File) {
  const ParallelSpec &P = S.Parallel;
  const Schedule &Sizes = File.Sizes;
  if (C.Part >= Sizes.parts()) {
    if (!std::exchange(File.IsPartWrong, true))
      error(At, diag::ScheduleFileRange, text(C), "part", C.Part, "pp x vpp",
            Sizes.parts())
          .noteValue("pp", P.Pp)
          .noteValue("vpp", P.Vpp);
    return false;
  }
  if (C.MicroBatch >= Sizes.MicroBatches) {
    if (!std::exchange(File.IsMicroBatchWrong, true))
      error(At, diag::ScheduleFileRange, text(C), "micro-batch", C.MicroBatch,
            "ga", Sizes.MicroBatches)
          .noteValue("ga", P.Ga);
    return false;
  }
  const int64_t There = Sizes.placeOf(C.Part).Stage;
  if (There != Stage)
    error(At, diag::ScheduleFilePlace, text(C), Stage + 1,
          Sizes.Placement == PlacementKind::V ? "V" : "loop", C.Part,
          There + 1);
  return There == Stage;
}

void Deriver::checkFileStep(const Cell &C, SourceRange At, FileSteps &File) {
  for (CellKind Half : halvesOf(C.Kind)) {
    auto [It, IsNew] = File.Seen.try_emplace(
        FileSteps::nameOf({Half, C.Part, C.MicroBatch}), C, At);
    if (IsNew)
      continue;
    const auto &[Other, There] = It->second;
    error(At, diag::ScheduleFileTwice, text(C), text(Other))
        .note(There, diag::UsedHere, text(Other));
    return;
  }
}

/// Reports the first step that a stage never runs. There are no more that it
/// does run than steps of the file, so this ends whatever the sizes are.
void Deriver::checkFileComplete(const FileSteps &File) {
  const Schedule &Sizes = File.Sizes;
  auto Lacks = [&](int64_t Stage, int64_t Part, int64_t MicroBatch) {
    const Cell F{CellKind::Forward, Part, MicroBatch},
        I{CellKind::BackwardInput, Part, MicroBatch},
        W{CellKind::BackwardWeight, Part, MicroBatch},
        B{CellKind::Backward, Part, MicroBatch};
    const std::string Missing =
        !File.has(F) ? formatv("`{0}`", text(F))
        : !File.has(I)
            ? formatv("`{0}`, or `{1}` and `{2}`", text(B), text(I), text(W))
        : !File.has(W) ? formatv("`{0}`", text(W))
                       : std::string();
    if (!Missing.empty())
      error(S.Parallel.Schedule.Range, diag::ScheduleFileMissing, Stage + 1,
            Missing);
    return !Missing.empty();
  };
  for (int64_t Stage = 0; Stage < Sizes.Stages; ++Stage)
    for (int64_t Chunk = 0; Chunk < Sizes.Chunks; ++Chunk)
      for (int64_t B = 0; B < Sizes.MicroBatches; ++B)
        if (Lacks(Stage, Sizes.partOf(Stage, Chunk), B))
          return;
}

void Deriver::checkScheduleFile() {
  const ParallelSpec &P = S.Parallel;
  if (*P.Schedule != ScheduleKind::File)
    return;
  // A file is of one job's numbers.
  for (const Located<int64_t> *F : {&P.Pp, &P.Vpp, &P.Ga})
    decide(of(*F));
  const auto Lines = static_cast<int64_t>(P.Steps.size());
  if (Lines != *P.Pp) {
    error(P.Schedule.Range,
          Lines == 0 ? diag::ScheduleFileWord : diag::ScheduleFileLines, Lines,
          *P.Pp)
        .noteValue("pp", P.Pp);
    return;
  }
  FileSteps File;
  File.Sizes.Placement = placementOf(P);
  File.Sizes.Stages = Lines;
  File.Sizes.Chunks = *P.Vpp;
  File.Sizes.MicroBatches = *P.Ga;
  bool IsGood = true;
  for (int64_t Stage = 0; Stage < Lines; ++Stage)
    for (const ScheduleSteps &At : P.Steps[static_cast<size_t>(Stage)])
      for (const Cell &C : At.Entry.Cells) {
        checkFileStep(C, At.Range, File);
        IsGood &= checkFilePlace(C, Stage, At.Range, File);
      }
  if (IsGood)
    checkFileComplete(File);
}
