// SPDX-License-Identifier: Apache-2.0
//
// Line 1 of a workload table: the policy and, of the policies for transformers,
// the keys.
#pragma once

#include "ir/model/Mesh.h"
#include "tools/validate/Findings.h"
#include "tools/validate/SimaiReader.h"

namespace foretrace::validate {

/// What the first line says. Groups have sizes only where all is there and
/// fits.
struct TableHeader {
  bool HasMesh = false; ///< tp, ep, pp and the number of ranks are known
  int64_t Tp = 1, Ep = 1, Pp = 1, World = 1;
  size_t Fields = 12;      ///< of a row
  llvm::StringRef Policy;  ///< of the text; empty if it is none
  bool HasKeys = false;    ///< the policy is one for transformers
  int64_t Checkpoints = 0; ///< rows that are computed again
  int64_t Boundary = 0;    ///< bytes of a message between stages
  /// Keys that are not there, and that only the simulator needs.
  llvm::SmallVector<llvm::StringRef, 2> Missing;

  /// Ranks of the data-parallel group.
  int64_t dp() const { return World / (Tp * Pp); }
  /// The ranks of a stage; only if there is a mesh.
  ir::Mesh mesh() const;
};

/// Reads the header of the table at \p Path and reports what is wrong with it.
TableHeader checkHeader(const TableLine &Line, llvm::StringRef Path,
                        Findings &Out);

} // namespace foretrace::validate
