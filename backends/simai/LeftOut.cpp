// SPDX-License-Identifier: Apache-2.0
#include "backends/simai/LeftOut.h"
#include "backends/simai/Words.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Backends.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::simai;

/// What all collectives of a cause have in common: " over tp x cp", or nothing
/// if it is their kind that has no word.
static std::string commonPart(const ir::Op &Collective) {
  std::string Text;
  if (!commOf(Collective.Kind))
    return Text;
  llvm::raw_string_ostream OS(Text);
  const llvm::StringRef Members = getSpelling(Collective.Group.Members);
  OS << " over ";
  if (!Members.empty())
    OS << "the " << Members << " of ";
  llvm::interleave(
      Collective.Group.Axes, OS, [&](ir::Axis A) { OS << getName(A); }, " x ");
  return Text;
}

void LeftOut::add(llvm::StringRef File, const ir::Op &Collective, Bytes Total) {
  Cause &C = Causes[commonPart(Collective)];
  C.Kinds.insert(Collective.Kind);
  C.Files.insert(File.str());
  C.Total += Total;
}

void LeftOut::report(SourceRange Range, DiagnosticEngine &Diags) const {
  for (const auto &[CommonPart, C] : Causes) {
    const std::string Kinds =
        llvm::join(llvm::map_range(C.Kinds, ir::getMnemonic), ", ");
    const size_t Count = C.Files.size();
    Diags.report(Range, diag::SimaiInexpressible,
                 Count == 1 ? "`" + *C.Files.begin() + "` has"
                            : std::to_string(Count) + " tables have",
                 Kinds + CommonPart,
                 C.Total.isOverflow() ? "2^63 or more"
                                      : llvm::itostr(C.Total.value()),
                 Count == 1 ? " and rank" : ", summed over a rank of each");
  }
}
