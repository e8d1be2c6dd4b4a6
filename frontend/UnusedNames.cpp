// SPDX-License-Identifier: Apache-2.0
#include "frontend/UnusedNames.h"
#include "lang/diagnostics/Frontend.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace {

static std::optional<UnusedName> declaredBy(const ast::Item &I) {
  if (const auto *P = std::get_if<ast::Param>(&I.Node))
    return UnusedName{"param", &P->Name, I.Range};
  if (const auto *L = std::get_if<ast::Let>(&I.Node))
    return UnusedName{"let", &L->Name, I.Range};
  if (const auto *Im = std::get_if<ast::Import>(&I.Node);
      Im && !Im->Alias.Text.empty())
    return UnusedName{"import", &Im->Alias, I.Range};
  return std::nullopt;
}

static bool isOfWord(char C) { return isAlnum(C) || C == '_'; }

/// Calls \p Take with each word of \p Text that is in no comment, and with
/// where it begins.
static void visitWords(StringRef Text,
                       function_ref<void(StringRef, size_t)> Take) {
  bool IsInString = false;
  for (size_t I = 0; I < Text.size();) {
    const char C = Text[I];
    if (isOfWord(C)) {
      const StringRef Word = Text.substr(I).take_while(isOfWord);
      Take(Word, I);
      I += Word.size();
      continue;
    }
    if (C == '\n')
      IsInString = false;
    else if (C == '"')
      IsInString = !IsInString;
    else if (!IsInString && Text.substr(I).starts_with("//"))
      I = std::min(Text.find('\n', I), Text.size()) - 1;
    I += IsInString && C == '\\' ? 2 : 1;
  }
}

std::vector<UnusedName> findUnusedNames(const ast::File &File, StringRef Text) {
  std::vector<UnusedName> Unused;
  for (const ast::Item &I : File.Items)
    if (const std::optional<UnusedName> D = declaredBy(I))
      Unused.push_back(*D);
  if (Unused.empty())
    return Unused;
  visitWords(Text, [&](StringRef Word, size_t Begin) {
    erase_if(Unused, [&](const UnusedName &D) {
      return D.Name->Text == Word &&
             (Begin < D.Item.Begin || Begin >= D.Item.End);
    });
  });
  return Unused;
}

void reportUnusedNames(const ast::File &File, SourceText Text,
                       DiagnosticEngine &Diags) {
  for (const UnusedName &D : findUnusedNames(File, Text.str()))
    Diags.report(D.Name->Range, diag::UnusedName, D.Kind, D.Name->Text);
}

} // namespace foretrace
