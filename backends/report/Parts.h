// SPDX-License-Identifier: Apache-2.0
//
// What a page has beside the plan: pictures are drawn from these. Private to
// the backend.
#pragma once

#include "backends/figures/Answers.h"
#include "backends/report/Explanations.h"

namespace foretrace::report {

/// Writes the attribute `tiles`: the figures that people look at first, with
/// verdicts and reasons. \p All has all backends with figures.
void writeTiles(const EmitRequest &Request, llvm::ArrayRef<Answer> All,
                Explanations &Of, llvm::json::OStream &J);

/// Writes the attribute `picture`: steps of the schedule with their times. If a
/// job has many steps, it shows a part of them, and states that.
void writePicture(const EmitRequest &Request, llvm::json::OStream &J);

/// Writes the attribute `occupancy`: by the length of context, how many
/// sequences of such a length fit into the cache. \p Largest is of the largest
/// step of a job that serves.
void writeOccupancy(const ir::Program &Largest, llvm::json::OStream &J);

/// Writes the attribute `nodes`: some nodes with their ranks, and in which
/// groups these are.
void writeNodes(const ir::Program &P, llvm::json::OStream &J);

/// Writes the attribute `layers`: by kind of stage and chunk, the layers in
/// order.
void writeLayers(const ir::Program &P, llvm::json::OStream &J);

/// Writes the attribute `sources`: the job's files by line, with what follows
/// from each line: keys, times of \p All and bytes.
void writeSources(const EmitRequest &Request, llvm::ArrayRef<Answer> All,
                  Explanations &Of, llvm::json::OStream &J);

/// Writes the attribute `sections`: figures of other backends.
void writeSections(llvm::ArrayRef<Answer> All, Explanations &Of,
                   llvm::json::OStream &J);

} // namespace foretrace::report
