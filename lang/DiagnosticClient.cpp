// SPDX-License-Identifier: Apache-2.0
#include "lang/DiagnosticClient.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace llvm;

namespace foretrace {

DiagnosticClient::~DiagnosticClient() = default;

/// Returns where a diagnostic is shown: those without a place come last.
static std::pair<bool, SourceLocation> getPlace(const Diagnostic &D) {
  return {!D.Range.isValid(), D.Range.start()};
}

/// Each different diagnostic once, in order of file and position.
static std::vector<const Diagnostic *> select(const DiagnosticEngine &Diags) {
  std::vector<std::pair<std::pair<bool, SourceLocation>, const Diagnostic *>>
      All;
  for (const Diagnostic &D : Diags.diagnostics())
    All.push_back({getPlace(D), &D});
  llvm::stable_sort(All, llvm::less_first());

  std::vector<const Diagnostic *> Out;
  auto Begin = All.begin();
  for (auto I = All.begin(); I != All.end(); ++I) {
    if (I->first != Begin->first)
      Begin = I;
    bool IsRepeated = std::any_of(Begin, I, [&](const auto &Earlier) {
      return Earlier.second->Id == I->second->Id &&
             Earlier.second->Level == I->second->Level &&
             Earlier.second->Arguments == I->second->Arguments;
    });
    if (!IsRepeated)
      Out.push_back(I->second);
  }
  return Out;
}

void showAll(const DiagnosticEngine &Diags, const SourceFiles &Sources,
             DiagnosticClient &To) {
  for (const Diagnostic *D : select(Diags))
    To.show(*D, Sources);
  const unsigned Errors = Diags.unkept(Severity::Error);
  const unsigned Warnings = Diags.unkept(Severity::Warning);
  if (Errors == 0 && Warnings == 0)
    return;
  Diagnostic More = {
      diag::MoreMessages, Severity::Note, SourceRange(), {}, {}, {}};
  addArgument(More.Arguments, Errors);
  addArgument(More.Arguments, Warnings);
  To.show(More, Sources);
}

std::unique_ptr<DiagnosticClient> makeClient(DiagnosticFormat As,
                                             raw_ostream &OS, TextStyle Style,
                                             std::vector<RowColumn> Columns) {
  switch (As) {
  case DiagnosticFormat::Text:
    return makeTextClient(OS, Style);
  case DiagnosticFormat::JSON:
    return makeJSONClient(OS);
  case DiagnosticFormat::CSV:
    return makeRowClient(std::move(Columns), RowFormat::CSV, OS);
  case DiagnosticFormat::Markdown:
    return makeRowClient(std::move(Columns), RowFormat::Markdown, OS);
  case DiagnosticFormat::Sarif:
    return makeSarifClient(OS);
  }
  llvm_unreachable("unknown format");
}

/// Bytes of the character that \p Text begins with; 0 if it can't be printed.
static size_t printableSize(StringRef Text) {
  const auto *Begin = reinterpret_cast<const UTF8 *>(Text.begin());
  const auto *End = reinterpret_cast<const UTF8 *>(Text.end());
  const size_t Size = getNumBytesForUTF8(*Begin);
  if (Size == 1)
    return isPrint(Text.front());
  const bool IsControl = Text.size() > 1 && Begin[0] == 0xC2 && Begin[1] < 0xA0;
  return !IsControl && isLegalUTF8Sequence(Begin, End) ? Size : 0;
}

std::string printable(StringRef Text) {
  std::string Out;
  while (!Text.empty()) {
    const size_t Size = printableSize(Text);
    if (Size > 0)
      Out += Text.take_front(Size);
    else
      Out += "\\" + toHex(Text.take_front(1));
    Text = Text.drop_front(std::max<size_t>(Size, 1));
  }
  return Out;
}

} // namespace foretrace
