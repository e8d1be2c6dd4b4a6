// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/Findings.h"
#include "lang/diagnostics/Validate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::validate {

/// Number of findings of one slug that are shown.
static constexpr size_t MostOfASlug = 4;

StringRef effectOf(diag::Id Id) {
  switch (static_cast<unsigned>(Id)) {
#define DEFECT(ID, EFFECT)                                                     \
  case diag::ID:                                                               \
    return EFFECT;
#include "tools/validate/Defects.def"
  default:
    return "";
  }
}

/// Texts of files that anybody may have written: no controls for a terminal,
/// and not the whole file.
static void makePrintable(DiagnosticArgument &Argument) {
  constexpr size_t Most = 500;
  auto *Text = std::get_if<std::string>(&Argument);
  if (!Text)
    return;
  if (Text->size() > Most)
    *Text = Text->substr(0, Most) + " ...";
  for (char &C : *Text)
    if (static_cast<unsigned char>(C) < ' ' || C == '\x7f')
      C = '?';
}

void Findings::add(Finding F) {
  for_each(F.Arguments, makePrintable);
  Slug &S = Slugs[F.Id];
  for (size_t I : S.Kept) {
    Finding &Known = Kept[I];
    if (Known.Arguments != F.Arguments)
      continue;
    if (Known.First.Path == F.First.Path)
      Known.InFile += F.InFile;
    else
      Known.Files += F.Files;
    return;
  }
  const Severity Level = getDiagnosticInfo(F.Id).Level;
  NumErrors += Level == Severity::Error;
  NumWarnings += Level == Severity::Warning;
  if (S.Kept.size() == MostOfASlug) {
    ++S.More;
    return;
  }
  S.Kept.push_back(Kept.size());
  Kept.push_back(std::move(F));
}

void Findings::merge(const Findings &Later) {
  for (const Finding &F : Later.Kept)
    add(F);
  for (const auto &[Id, S] : Later.Slugs) {
    const Severity Level = getDiagnosticInfo(Id).Level;
    NumErrors += Level == Severity::Error ? S.More : 0;
    NumWarnings += Level == Severity::Warning ? S.More : 0;
    Slugs[Id].More += S.More;
  }
}

/// `2 more in this file, and in 63 other files`
static std::string describeCounts(const Finding &F) {
  std::string Text;
  if (F.InFile > 1)
    Text += formatv("{0} more in this file", F.InFile - 1);
  if (F.InFile > 1 && F.Files > 1)
    Text += ", and ";
  if (F.Files > 1)
    Text += formatv("in {0} other files", F.Files - 1);
  return Text;
}

static void addNote(Diagnostic &To, diag::Id Id, StringRef Text) {
  if (!Text.empty())
    To.Notes.push_back({Id, Severity::Note, {}, {Text.str()}, {}, {}});
}

static Diagnostic toDiagnostic(const Finding &F) {
  const Place &At = F.First;
  Diagnostic D{F.Id, getDiagnosticInfo(F.Id).Level, {}, F.Arguments, {}, {}};
  D.At = {At.Path};
  if (At.Line > 0)
    D.At->Line = At.Line;
  if (At.Node) {
    D.At->Part = formatv("node {0}", *At.Node);
    D.Properties.push_back({"node", *At.Node});
  }
  D.Properties.push_back({"in_file", F.InFile});
  D.Properties.push_back({"files", F.Files});
  addNote(D, diag::DefectElsewhere, describeCounts(F));
  addNote(D, diag::DefectEffect, effectOf(F.Id));
  return D;
}

void Findings::show(DiagnosticClient &To) const {
  const SourceFiles None;
  for (const Finding &F : Kept)
    To.show(toDiagnostic(F), None);
  for (const auto &[Id, S] : Slugs) {
    if (S.More == 0)
      continue;
    Diagnostic More{diag::MoreDefects, Severity::Note, {}, {}, {}, {}};
    More.At.emplace();
    addArgument(More.Arguments, S.More);
    addArgument(More.Arguments, getDiagnosticInfo(Id).Slug);
    To.show(More, None);
  }
}

std::vector<RowColumn> Findings::columns() {
  return {{"file"},          {"line", true},  {"node", true},
          {"severity"},      {"slug"},        {"message"},
          {"in_file", true}, {"files", true}, {"effect"}};
}

} // namespace foretrace::validate
