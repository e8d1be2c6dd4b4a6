// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/Findings.h"
#include "lang/diagnostics/Validate.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace foretrace::validate {

/// Findings of one slug that are shown.
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
static std::string printable(std::string Text) {
  constexpr size_t Most = 500;
  if (Text.size() > Most)
    Text = Text.substr(0, Most) + " ...";
  for (char &C : Text)
    if (static_cast<unsigned char>(C) < ' ' || C == '\x7f')
      C = '?';
  return Text;
}

void Findings::add(Finding F) {
  F.Text = printable(std::move(F.Text));
  Slug &S = Slugs[F.Id];
  for (size_t I : S.Kept) {
    Finding &Known = Kept[I];
    if (Known.Text != F.Text)
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

static StringRef nameOf(Severity Level) {
  static constexpr StringRef Names[] = {"error", "warning", "note"};
  return Names[static_cast<size_t>(Level)];
}

static void printPlace(const Place &At, raw_ostream &OS) {
  OS << At.Path << ':';
  if (At.Line > 0)
    OS << At.Line << ':';
  if (At.Node)
    OS << " node " << *At.Node << ':';
}

/// ` (2 more here; in 63 other files)`
static void printCounts(const Finding &F, raw_ostream &OS) {
  if (F.InFile == 1 && F.Files == 1)
    return;
  OS << "  and ";
  if (F.InFile > 1)
    OS << F.InFile - 1 << " more in this file";
  if (F.InFile > 1 && F.Files > 1)
    OS << ", and ";
  if (F.Files > 1)
    OS << "in " << F.Files - 1 << " other files";
  OS << '\n';
}

void Findings::print(raw_ostream &OS) const {
  for (const Finding &F : Kept) {
    const DiagnosticInfo &Info = getDiagnosticInfo(F.Id);
    printPlace(F.First, OS);
    OS << ' ' << nameOf(Info.Level) << ": " << F.Text << " [" << Info.Slug
       << "]\n";
    printCounts(F, OS);
    if (StringRef Effect = effectOf(F.Id); !Effect.empty())
      OS << "  " << Effect << '\n';
  }
  for (const auto &[Id, S] : Slugs)
    if (S.More > 0)
      OS << S.More << " more like these [" << getDiagnosticInfo(Id).Slug
         << "]\n";
}

void Findings::printJSON(raw_ostream &OS) const {
  for (const Finding &F : Kept) {
    const DiagnosticInfo &Info = getDiagnosticInfo(F.Id);
    json::OStream J(OS);
    J.object([&] {
      J.attribute("file", json::fixUTF8(F.First.Path));
      if (F.First.Line > 0)
        J.attribute("line", F.First.Line);
      if (F.First.Node)
        J.attribute("node", *F.First.Node);
      J.attribute("severity", nameOf(Info.Level));
      J.attribute("slug", Info.Slug);
      J.attribute("message", json::fixUTF8(F.Text));
      J.attribute("in_file", F.InFile);
      J.attribute("files", F.Files);
      J.attribute("effect", effectOf(F.Id));
    });
    OS << '\n';
  }
  for (const auto &[Id, S] : Slugs)
    if (S.More > 0)
      OS << formatv("{{\"slug\":\"{0}\",\"more\":{1}}\n",
                    getDiagnosticInfo(Id).Slug, S.More);
}

std::vector<RowColumn> Findings::columns() {
  return {{"file"},          {"line", true},  {"node", true},
          {"severity"},      {"slug"},        {"message"},
          {"in_file", true}, {"files", true}, {"effect"}};
}

void Findings::printRows(RowWriter &To) const {
  for (const Finding &F : Kept) {
    const DiagnosticInfo &Info = getDiagnosticInfo(F.Id);
    const Place &At = F.First;
    To.write({At.Path, At.Line > 0 ? std::to_string(At.Line) : "",
              At.Node ? std::to_string(*At.Node) : "", nameOf(Info.Level).str(),
              Info.Slug.str(), F.Text, std::to_string(F.InFile),
              std::to_string(F.Files), effectOf(F.Id).str()});
  }
  for (const auto &[Id, S] : Slugs) {
    const DiagnosticInfo &Info = getDiagnosticInfo(Id);
    if (S.More > 0)
      To.write({"", "", "", nameOf(Info.Level).str(), Info.Slug.str(),
                formatv("{0} more like these", S.More).str(), "", "", ""});
  }
}

} // namespace foretrace::validate
