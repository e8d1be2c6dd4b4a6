// SPDX-License-Identifier: Apache-2.0
#include "lang/Diagnostic.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

namespace foretrace {

static constexpr DiagnosticInfo Infos[] = {
#define DIAG(ID, SEVERITY, SLUG, TEXT) {Severity::SEVERITY, SLUG, TEXT},
#include "lang/Diagnostics.def"
};

const DiagnosticInfo &getDiagnosticInfo(diag::Id Id) { return Infos[Id]; }

std::optional<diag::Id> findDiagnostic(llvm::StringRef Slug) {
  for (const auto &[Index, Info] : llvm::enumerate(Infos))
    if (Info.Slug == Slug)
      return static_cast<diag::Id>(Index);
  return std::nullopt;
}

DiagnosticBuilder DiagnosticEngine::add(SourceRange Range, diag::Id Id,
                                        std::string Text) {
  const DiagnosticInfo &Info = getDiagnosticInfo(Id);
  Severity Level = Info.Level;
  UsedAllowance |= Allowed.test(Id);
  if (Level == Severity::Warning && (Allowed.test(Id) || Ignored.test(Id))) {
    Dropped = {};
    return DiagnosticBuilder(*this, DiagnosticBuilder::OfDropped);
  }
  if (Level == Severity::Error && Allowed.test(Id))
    Level = Severity::Warning;
  if (Level == Severity::Warning && Refused.test(Id))
    Level = Severity::Error;
  NumErrors += Level == Severity::Error;
  All.push_back({Id, Level, Range, std::move(Text), {}, {}});
  return DiagnosticBuilder(*this, All.size() - 1);
}

Diagnostic &DiagnosticBuilder::find() const {
  return Index == OfDropped ? Engine.Dropped : Engine.All[Index];
}

DiagnosticBuilder &DiagnosticBuilder::addNote(SourceRange Range, diag::Id Id,
                                              std::string Text) {
  find().Notes.push_back({Id, Severity::Note, Range, std::move(Text), {}, {}});
  return *this;
}

DiagnosticBuilder &DiagnosticBuilder::fix(SourceRange Range,
                                          const llvm::Twine &Replacement) {
  find().FixIts.push_back({Range, Replacement.str()});
  return *this;
}

} // namespace foretrace
