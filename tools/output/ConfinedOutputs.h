// SPDX-License-Identifier: Apache-2.0
//
// Keeps the files of a job's `emit` block in the output folder.
#pragma once

#include "backends/Backend.h"

namespace foretrace {

/// The files of an `emit` block of a job, which must not choose where on the
/// machine they are written: paths out of the folder are reported, once, and
/// not written. Values that are put into a path can't choose a folder either.
class ConfinedOutputs final : public OutputSet {
public:
  ConfinedOutputs(OutputSet &Inner, const Backend &Format,
                  const ir::EmitSpec &Emit, DiagnosticEngine &Diags)
      : Inner(Inner), Format(Format), Emit(Emit), Diags(Diags) {}

  llvm::Error
  addAll(uint64_t Count, llvm::function_ref<std::string(uint64_t)> Path,
         llvm::function_ref<void(uint64_t, OutputStream &)> Write) override;

private:
  SourceRange findPlace() const;
  bool hasPathFromValue();

  OutputSet &Inner;
  const Backend &Format;
  const ir::EmitSpec &Emit;
  DiagnosticEngine &Diags;
  bool HasReported = false;
};

} // namespace foretrace
