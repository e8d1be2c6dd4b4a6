// SPDX-License-Identifier: Apache-2.0
#include "backends/Backend.h"
#include "analysis/Derivation.h"
#include "backends/figures/Figures.h"
#include "lang/NumberText.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"

using namespace foretrace;

Emission::~Emission() = default;

std::optional<Figures> Emission::figures(const EmitRequest &) const {
  return std::nullopt;
}

llvm::Error Emission::emitFigures(const EmitRequest &, const Figures &,
                                  OutputSet &) const {
  llvm_unreachable("a backend without figures");
}

llvm::Expected<Subjects> Emission::locate(const EmitRequest &,
                                          const CellQuery &) const {
  llvm_unreachable("the backend has no cells");
}

bool EmitRequest::hasRoom(double Least, DiagnosticEngine &Diags) const {
  if (!MaxBytes || Least <= static_cast<double>(*MaxBytes))
    return true;
  Diags
      .report(Emit.Range, diag::OutputTooLarge, printBytes(Least),
              printBytes(static_cast<double>(*MaxBytes)))
      .note({}, diag::RaiseMaxOutput);
  return false;
}

std::string EmitRequest::file(llvm::StringRef Named,
                              llvm::StringRef Extension) const {
  return Named.empty() ? (DefaultStem + Extension).str() : Named.str();
}

void foretrace::warnOfDurations(const EmitRequest &Request, ir::FactSet Needs,
                                DiagnosticEngine &Diags) {
  const auto &Kind = Request.Program.Spec.Cost.Kind;
  if (*Kind == ir::CostKind::Roofline && Needs.contains(ir::Fact::Costs))
    Diags.report(Kind.Range, diag::ServeTimes);
}

const EmitOption *Backend::findOption(llvm::StringRef Name) const {
  for (const EmitOption &O : options())
    if (O.Name == Name)
      return &O;
  return nullptr;
}
