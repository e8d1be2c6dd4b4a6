// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/EmitBlocks.h"
#include "backends/Backends.h"
#include "lang/diagnostics/Tools.h"
#include "tools/compiler/CompiledJob.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::driver {

std::vector<ir::EmitSpec> selectEmits(ArrayRef<ir::EmitSpec> Emits,
                                      ArrayRef<std::string> Names) {
  if (Names.empty())
    return Emits;
  std::vector<ir::EmitSpec> Selected;
  for (const std::string &Name : Names) {
    const size_t Before = Selected.size();
    copy_if(Emits, std::back_inserter(Selected),
            [&](const ir::EmitSpec &E) { return E.Backend == Name; });
    if (Selected.size() == Before)
      Selected.push_back(ir::EmitSpec::plain(Name));
  }
  return Selected;
}

const Backend *backendOf(const ir::EmitSpec &Emit, DiagnosticEngine &Diags) {
  const Backend *Format = findBackend(Emit.Backend);
  if (!Format)
    Diags.report(Emit.Range, diag::UnknownBackend, Emit.Backend,
                 backendNames());
  return Format;
}

void checkBlocks(ArrayRef<ir::EmitSpec> Emits, DiagnosticEngine &Diags) {
  for (const ir::EmitSpec &E : Emits)
    if (const Backend *Format = backendOf(E, Diags))
      Format->read(E, Diags);
  Diags.clearAllowed(); // of the last one
}

bool takesFile(const ir::EmitSpec &Emit) {
  const Backend *B = findBackend(Emit.Backend);
  return !B || B->findOption("file"); // an unknown one is reported elsewhere
}

bool areOfModel(ArrayRef<ir::EmitSpec> Emits) {
  return !Emits.empty() && all_of(Emits, [](const ir::EmitSpec &E) {
    const Backend *B = findBackend(E.Backend);
    DiagnosticEngine Unheard;
    return B && B->IsOfModel &&
           !B->read(E, Unheard)->needs().contains(ir::Fact::Totalled);
  });
}

const ir::Program *programFor(CompiledJob &Job, StringRef Name) {
  const ir::EmitSpec Plain = ir::EmitSpec::plain(Name);
  DiagnosticEngine Unheard;
  if (const Backend *B = findBackend(Name))
    if (const auto Block = B->read(Plain, Unheard);
        Block->servedStep() == ServedStep::Largest)
      if (const ir::Program *P = Job.largestStep(Block->needs()))
        return P;
  return Job.program();
}

std::string valuesOf(const EmitOption &O) {
  return O.Words().empty() ? "value" : join(O.Words(), "|");
}

std::string docOf(const EmitOption &O) {
  std::string Doc = O.Doc.str();
  Doc.front() = toUpper(Doc.front());
  return Doc + " (default: " + O.Default() + ")";
}

} // namespace foretrace::driver
