// SPDX-License-Identifier: Apache-2.0
#include "backends/ir/IR.h"
#include "backends/EmitOptions.h"
#include "ir/Print.h"

using namespace foretrace;
using namespace foretrace::ir;

/// What a program at a level is known to have.
static std::optional<FactSet> factsOfLevel(llvm::StringRef Name) {
  if (Name == getName(Level::Spec))
    return FactSet{Fact::Complete};
  if (Name == getName(Level::Model))
    return FactSet{Fact::Gradients};
  if (Name == getName(Level::SPMD))
    return FactSet{Fact::Layouts, Fact::Recompute};
  if (Name == getName(Level::Schedule))
    return FactSet{Fact::Stages, Fact::Scheduled, Fact::Sync, Fact::Costs};
  return std::nullopt;
}

FactSet irtext::prepare(const EmitSpec &Emit, DiagnosticEngine &Diags) {
  checkOptionNames(Emit, {"file", "level"}, Diags);
  readFile(Emit, "-", Diags);
  const NamedAttribute *Named = Emit.Options.find("level");
  llvm::StringRef Name =
      Named ? llvm::StringRef(Named->Value.Text) : getName(Level::Schedule);
  if (std::optional<FactSet> Facts = factsOfLevel(Name))
    return *Facts;
  Diags.report(Named->Value.Range, diag::UnknownLevel, Name);
  return {Fact::Complete};
}

bool irtext::check(const EmitRequest &, DiagnosticEngine &) { return true; }

llvm::Error irtext::emit(const EmitRequest &Request, OutputSet &Out,
                         DiagnosticEngine &) {
  DiagnosticEngine Known; // `prepare` has reported these
  return Out.add(readFile(Request.Emit, "-", Known),
                 [&](auto &OS) { print(Request.Program, OS); });
}
