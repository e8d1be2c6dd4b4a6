// SPDX-License-Identifier: Apache-2.0
//
// The tables of messages.
#include "lang/Diagnostic.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace foretrace {

using InfoList = llvm::ArrayRef<DiagnosticInfo>;

static constexpr DiagnosticInfo LangRows[] = {
#define DIAG(ID, SEVERITY, SLUG, TEXT) {Severity::SEVERITY, SLUG, TEXT},
#include "lang/diagnostics/Lang.def"
};
static constexpr DiagnosticInfo FrontendRows[] = {
#define DIAG(ID, SEVERITY, SLUG, TEXT) {Severity::SEVERITY, SLUG, TEXT},
#include "lang/diagnostics/Frontend.def"
};
static constexpr DiagnosticInfo IRRows[] = {
#define DIAG(ID, SEVERITY, SLUG, TEXT) {Severity::SEVERITY, SLUG, TEXT},
#include "lang/diagnostics/IR.def"
};
static constexpr DiagnosticInfo PassesRows[] = {
#define DIAG(ID, SEVERITY, SLUG, TEXT) {Severity::SEVERITY, SLUG, TEXT},
#include "lang/diagnostics/Passes.def"
};
static constexpr DiagnosticInfo BackendsRows[] = {
#define DIAG(ID, SEVERITY, SLUG, TEXT) {Severity::SEVERITY, SLUG, TEXT},
#include "lang/diagnostics/Backends.def"
};
static constexpr DiagnosticInfo ToolsRows[] = {
#define DIAG(ID, SEVERITY, SLUG, TEXT) {Severity::SEVERITY, SLUG, TEXT},
#include "lang/diagnostics/Tools.def"
};
static constexpr DiagnosticInfo ImportRows[] = {
#define DIAG(ID, SEVERITY, SLUG, TEXT) {Severity::SEVERITY, SLUG, TEXT},
#include "lang/diagnostics/Import.def"
};
static constexpr DiagnosticInfo ValidateRows[] = {
#define DIAG(ID, SEVERITY, SLUG, TEXT) {Severity::SEVERITY, SLUG, TEXT},
#include "lang/diagnostics/Validate.def"
};
static constexpr DiagnosticInfo RunsRows[] = {
#define DIAG(ID, SEVERITY, SLUG, TEXT) {Severity::SEVERITY, SLUG, TEXT},
#include "lang/diagnostics/Runs.def"
};

/// In the order of diag::DiagnosticTable.
static constexpr InfoList Tables[] = {LangRows,   FrontendRows, IRRows,
                                      PassesRows, BackendsRows, ToolsRows,
                                      ImportRows, ValidateRows, RunsRows};
static_assert(std::size(Tables) == diag::NumTables);
static_assert(std::max({std::size(LangRows), std::size(FrontendRows),
                        std::size(IRRows), std::size(PassesRows),
                        std::size(BackendsRows), std::size(ToolsRows),
                        std::size(ImportRows), std::size(ValidateRows),
                        std::size(RunsRows)}) <= diag::MaxRows,
              "raise MaxRows");

const DiagnosticInfo &getDiagnosticInfo(diag::Id Id) {
  return Tables[Id / diag::MaxRows][Id % diag::MaxRows];
}

llvm::ArrayRef<diag::Id> allDiagnostics() {
  static const std::vector<diag::Id> Ids = [] {
    std::vector<diag::Id> All;
    for (const auto &[Table, Rows] : llvm::enumerate(Tables))
      for (unsigned Row = 0; Row != Rows.size(); ++Row)
        All.push_back(
            diag::idOf(static_cast<diag::DiagnosticTable>(Table), Row));
    return All;
  }();
  return Ids;
}

std::optional<diag::Id> findDiagnostic(llvm::StringRef Slug) {
  for (diag::Id Id : allDiagnostics())
    if (getDiagnosticInfo(Id).Slug == Slug)
      return Id;
  return std::nullopt;
}

} // namespace foretrace
