// SPDX-License-Identifier: Apache-2.0
#include "tools/output/ConfinedOutputs.h"
#include "lang/diagnostics/Backends.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace {

/// Returns whether \p Path leads out of the folder it is relative to.
static bool leadsOutside(StringRef Path) {
  SmallString<128> Plain(Path);
  sys::path::remove_dots(Plain, /*remove_dot_dot=*/true);
  return sys::path::is_absolute(Plain) ||
         (!Plain.empty() && *sys::path::begin(Plain) == "..");
}

/// The option that leads outside.
SourceRange ConfinedOutputs::findPlace() const {
  for (const ir::NamedAttribute &Option : Emit.Options.Fields)
    if (Option.Value.K == ir::Attribute::Kind::Text &&
        leadsOutside(Option.Value.Text))
      return Option.Value.Range;
  return Emit.Range;
}

/// Returns whether a value added a folder to a path; reports it.
bool ConfinedOutputs::hasPathFromValue() {
  for (const ir::NamedAttribute &Option : Emit.Options.Fields) {
    const EmitOption *Known = Format.findOption(Option.Name);
    const ir::Attribute &A = Option.Value;
    if (!Known || !Known->IsPath || !A.PathFrom.isValid())
      continue;
    if (!HasReported)
      Diags.report(A.PathFrom, diag::PathInValue, A.Text)
          .note({}, diag::FolderInText);
    return HasReported = true;
  }
  return false;
}

Error ConfinedOutputs::addAll(
    uint64_t Count, function_ref<std::string(uint64_t)> Path,
    function_ref<void(uint64_t, OutputStream &)> Write) {
  for (uint64_t I = 0; I != Count; ++I) {
    const std::string Of = Path(I);
    if (!leadsOutside(Of))
      continue;
    if (!HasReported)
      Diags.report(findPlace(), diag::OutsideFolder, Of);
    HasReported = true;
    return Error::success();
  }
  if (hasPathFromValue())
    return Error::success();
  return Inner.addAll(Count, Path, Write);
}

} // namespace foretrace
