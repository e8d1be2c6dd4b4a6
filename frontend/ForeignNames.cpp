// SPDX-License-Identifier: Apache-2.0
#include "frontend/ForeignNames.h"
#include "frontend/Frontend.h"
#include "ir/model/Spellings.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;

namespace {

struct ForeignPages {
  ForeignPages();

  SourceFiles Sources;
  DiagnosticEngine Diags;
  Pages From{"import/", Sources, Diags};
  Mapping OfJobs{From, *From.findClass("job")};
  std::vector<ForeignName> Rows;
};

} // namespace

ForeignPages::ForeignPages() {
  for (const ast::Entry *E : OfJobs.entries())
    if (const ast::Section *S = sectionOf(*E))
      for (const ast::Entry &Row : S->Entries) {
        const auto &A = std::get<ast::Assignment>(Row.Node);
        const bool IsText = std::holds_alternative<ast::String>(A.Value->Node);
        const auto [Names, Text] = namesAndText(A);
        Rows.push_back({S->Keyword.Text, A.Key.Text, IsText ? Text : Names,
                        IsText ? "" : Text});
      }
}

static ForeignPages &pages() {
  static ForeignPages All;
  return All;
}

/// Returns the keys of formats, without rules for some models alone.
static const Mapping &formats() {
  static const Mapping All = [] {
    Pages &From = pages().From;
    Mapping Of(From, *From.findClass("megatron"));
    for (llvm::StringRef Class :
         {"transformer", "deepspeed", "in_zero_optimization"})
      Of.add(From, *From.findClass(Class));
    return Of;
  }();
  return All;
}

llvm::ArrayRef<ForeignName> foretrace::foreignNames() { return pages().Rows; }

const ForeignName *foretrace::findForeignName(llvm::StringRef Section,
                                              llvm::StringRef Word) {
  const auto Found = llvm::find_if(foreignNames(), [&](const ForeignName &N) {
    return N.Section == Section && ir::isAlias(Word, N.Names);
  });
  return Found == foreignNames().end() ? nullptr : &*Found;
}

Mapping::FateOfKey foretrace::fateInJobs(llvm::StringRef Word) {
  const Mapping::FateOfKey Own = pages().OfJobs.fateOf(Word);
  return Own.Is == Mapping::Fate::Unknown ? formats().fateOf(Word) : Own;
}

std::optional<llvm::StringRef>
foretrace::findNotModelled(llvm::StringRef Name) {
  const Mapping::FateOfKey Fate = pages().OfJobs.fateOf(Name);
  if (Fate.Is != Mapping::Fate::NotModelled)
    return std::nullopt;
  return Fate.Consequence;
}
