// SPDX-License-Identifier: Apache-2.0
#include "backends/EmitOptions.h"
#include "lang/DidYouMean.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;

void foretrace::checkOptionNames(const ir::EmitSpec &Emit,
                                 llvm::ArrayRef<llvm::StringRef> Known,
                                 DiagnosticEngine &Diags) {
  for (const ir::NamedAttribute &Option : Emit.Options.Fields)
    if (!llvm::is_contained(Known, Option.Name))
      suggest(Diags.report(Option.NameRange, diag::UnknownEmitOption,
                           Option.Name, Emit.Backend, llvm::join(Known, ", ")),
              Option.NameRange, Option.Name, Known);
}

void foretrace::reportOptionValue(const ir::NamedAttribute &Option,
                                  llvm::StringRef Expected,
                                  DiagnosticEngine &Diags) {
  Diags.report(Option.Value.Range, diag::EmitOptionValue, Option.Name,
               Expected);
}

std::optional<size_t> foretrace::readWord(const ir::NamedAttribute &Option,
                                          llvm::ArrayRef<llvm::StringRef> Words,
                                          DiagnosticEngine &Diags) {
  const auto *Found = llvm::find(Words, Option.Value.Text);
  if (Option.Value.K == ir::Attribute::Kind::Name && Found != Words.end())
    return Found - Words.begin();
  reportOptionValue(Option, "one of " + llvm::join(Words, ", "), Diags);
  return std::nullopt;
}

void foretrace::readAllow(const ir::NamedAttribute &Option,
                          llvm::ArrayRef<llvm::StringLiteral> Allowable,
                          std::vector<std::string> &Allow,
                          DiagnosticEngine &Diags) {
  if (Option.Value.K != ir::Attribute::Kind::List)
    return reportOptionValue(Option, "a list of diagnostics in quotes", Diags);
  for (const ir::Attribute &Slug : Option.Value.Elements) {
    if (Slug.K == ir::Attribute::Kind::Text &&
        llvm::is_contained(Allowable, Slug.Text))
      Allow.push_back(Slug.Text);
    else
      Diags.report(Slug.Range, diag::SimaiNotAllowable, Slug.Text,
                   llvm::join(Allowable, ", "));
  }
}

std::string foretrace::readFile(const ir::EmitSpec &Emit,
                                llvm::StringRef Default,
                                DiagnosticEngine &Diags) {
  const ir::NamedAttribute *Option = Emit.Options.find("file");
  if (!Option)
    return Default.str();
  if (Option->Value.K == ir::Attribute::Kind::Text &&
      !Option->Value.Text.empty())
    return Option->Value.Text;
  reportOptionValue(*Option, "a file name in quotes", Diags);
  return Default.str();
}
