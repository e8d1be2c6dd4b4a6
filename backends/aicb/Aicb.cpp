// SPDX-License-Identifier: Apache-2.0
//
// The `aicb` backend: the CSV workloads that the public generator writes, byte
// for byte. Like `accounting = aicb` of the `simai` backend it imitates a tool:
// it reads the spec, and its formulas are that tool's and concern nobody else.
// docs/aicb.md says what they get wrong.
#include "backends/EmissionOf.h"
#include "backends/KnownLayers.h"
#include "backends/aicb/Check.h"
#include "backends/aicb/Workload.h"

using namespace foretrace;
using namespace foretrace::aicb;

ir::FactSet foretrace::aicb::needs(const Options &) {
  return {ir::Fact::Complete};
}

bool foretrace::aicb::check(const EmitRequest &Request, const Options &O,
                            DiagnosticEngine &Diags) {
  const ir::Spec &S = Request.Program.Spec;
  if (!checkKinds(S, "the public generator", Diags) ||
      !checkWorkload(S, Request.Emit, O, Diags))
    return false;
  constexpr double BytesOfRow = 48; // that ends an epoch, or sends
  auto Rows = static_cast<double>(O.Epochs);
  if (O.Kind == Kind::Megatron)
    Rows *= static_cast<double>(*S.Parallel.Ga);
  if (O.Kind == Kind::Collective)
    Rows = static_cast<double>(O.Repeats);
  return Request.hasRoom(Rows * BytesOfRow, Diags);
}

llvm::Error foretrace::aicb::emit(const EmitRequest &Request, const Options &O,
                                  OutputSet &Out) {
  return Out.add(Request.file(O.File, ".csv"), [&](OutputStream &OS) {
    makeWorkload(Request.Program.Spec, O, OS)->write();
  });
}
