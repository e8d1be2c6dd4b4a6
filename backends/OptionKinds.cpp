// SPDX-License-Identifier: Apache-2.0
#include "backends/OptionKinds.h"
#include "lang/diagnostics/Backends.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::option;
using ir::Attribute;

bool FileName::read(const Attribute &A, std::string &Into, DiagnosticEngine &) {
  if (A.K != Attribute::Kind::Text || A.Text.empty())
    return false;
  Into = A.Text;
  return true;
}

bool FolderName::read(const Attribute &A, std::string &Into,
                      DiagnosticEngine &) {
  if (A.K != Attribute::Kind::Text)
    return false;
  Into = A.Text;
  return true;
}

bool FilePrefix::read(const Attribute &A, std::string &Into,
                      DiagnosticEngine &) {
  if (A.K != Attribute::Kind::Text || A.Text.empty() ||
      llvm::StringRef(A.Text).contains('/'))
    return false;
  Into = A.Text;
  return true;
}

llvm::ArrayRef<llvm::StringRef> Flag::words() {
  static constexpr llvm::StringRef Words[] = {"true", "false"};
  return Words;
}

bool Flag::read(const Attribute &A, bool &Into, DiagnosticEngine &) {
  if (A.K != Attribute::Kind::Bool)
    return false;
  Into = A.Integer != 0;
  return true;
}

std::string option::oneOf(llvm::ArrayRef<llvm::StringRef> Words) {
  return "one of " + llvm::join(Words, ", ");
}

std::optional<size_t> option::findWord(const Attribute &A,
                                       llvm::ArrayRef<llvm::StringRef> Words) {
  return A.K == Attribute::Kind::Name ? findText(A, Words) : std::nullopt;
}

std::optional<size_t> option::findText(const Attribute &A,
                                       llvm::ArrayRef<llvm::StringRef> Words) {
  const auto *Found = llvm::find(Words, A.Text);
  if (Found == Words.end())
    return std::nullopt;
  return Found - Words.begin();
}

bool option::readMeasure(const Attribute &A, llvm::StringRef Measures,
                         int64_t Plausible, std::optional<int64_t> &Into) {
  const bool IsIt =
      A.Measures == Measures || (A.Measures.empty() && A.Integer >= Plausible);
  if (A.K != Attribute::Kind::Int || A.Integer < 1 || !IsIt)
    return false;
  Into = A.Integer;
  return true;
}

bool option::readAllow(const Attribute &A, std::vector<std::string> &Into,
                       llvm::ArrayRef<llvm::StringRef> Allowable,
                       DiagnosticEngine &Diags) {
  if (A.K != Attribute::Kind::List)
    return false;
  for (const Attribute &Slug : A.Elements)
    if (Slug.K == Attribute::Kind::Text &&
        llvm::is_contained(Allowable, Slug.Text)) {
      Into.push_back(Slug.Text);
      Diags.allow(Slug.Text);
    } else {
      Diags.report(Slug.Range, diag::SimaiNotAllowable, Slug.Text,
                   llvm::join(Allowable, ", "));
    }
  return true;
}
