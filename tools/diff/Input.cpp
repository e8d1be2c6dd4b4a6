// SPDX-License-Identifier: Apache-2.0
#include "tools/diff/Input.h"
#include "ir/text/Parse.h"
#include "ir/verify/Verify.h"
#include "lang/diagnostics/Lang.h"

using namespace foretrace;
using namespace foretrace::diff;

Input::Input(Compiler &Session, llvm::StringRef Path, FrontendOptions Reading,
             DiagnosticEngine Messages)
    : Diags(std::move(Messages)) {
  if (Path.ends_with(".ftir"))
    readText(Session.sources(), Path);
  else
    Job = &Session.read(Path, std::move(Reading), std::move(Diags));
}

void Input::readText(SourceFiles &Sources, llvm::StringRef Path) {
  const llvm::ErrorOr<FileId> File = Sources.open(Path);
  if (File)
    Text = ir::parse(Sources, *File, Diags);
  else
    Diags.report({}, diag::FileUnreadable, Path, File.getError().message());
  if (Text && !ir::verify(*Text, Diags))
    Text.reset();
}

/// Returns the facts that numbers follow from; stages that are cut inside of
/// layers are beyond the IR.
static ir::FactSet factsOf(const ir::Spec &S) {
  if (*S.Parallel.Partition == ir::PartitionKind::ModuleCount)
    return {ir::Fact::Totals, ir::Fact::Scheduled};
  if (S.Cost.Kind.is(ir::CostKind::Estimate))
    return {ir::Fact::Totalled, ir::Fact::Scheduled, ir::Fact::Costs,
            ir::Fact::Workspace, ir::Fact::Service};
  return {ir::Fact::Totalled, ir::Fact::Workspace};
}

Side Input::side(std::string Name, const Input &Other) {
  if (Text)
    return {std::move(Name), Text->Spec, &*Text, nullptr, Diags.diagnostics()};
  const ir::FactSet Needs =
      Other.Text ? Other.Text->Facts : factsOf(*Job->spec());
  const ir::Program *P = Job->program(Needs);
  return {std::move(Name), P ? P->Spec : *Job->spec(), P, Job,
          Job->diagnostics()};
}
