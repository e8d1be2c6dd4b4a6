// SPDX-License-Identifier: Apache-2.0
#include "lang/Render.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;

namespace foretrace {

/// Where a diagnostic is shown: those without a place come last.
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

static StringRef getName(Severity Level) {
  switch (Level) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    return "note";
  }
  llvm_unreachable("unknown severity");
}

static SourceMgr::DiagKind getKind(Severity Level) {
  switch (Level) {
  case Severity::Error:
    return SourceMgr::DK_Error;
  case Severity::Warning:
    return SourceMgr::DK_Warning;
  case Severity::Note:
    return SourceMgr::DK_Note;
  }
  llvm_unreachable("unknown severity");
}

/// Longer lines are not shown: nobody finds the caret under them.
static constexpr size_t MaxShownLine = 1000;

/// Whether the line of \p At is short enough to show, and text: a terminal
/// would obey anything else.
static bool isShowable(SourceLocation At, const SourceFiles &Sources) {
  StringRef Text = Sources.text(At.File).str();
  size_t Offset = At.Offset;
  size_t LineStart = Text.take_front(Offset).rfind('\n') + 1;
  size_t LineEnd = std::min(Text.find('\n', Offset), Text.size());
  StringRef Line = Text.slice(LineStart, LineEnd);
  return Line.size() <= MaxShownLine && json::isUTF8(Line) &&
         none_of(Line, [](unsigned char C) {
           return (C < ' ' && C != '\t' && C != '\r') || C == 0x7f;
         });
}

/// \p R as LLVM's renderer knows it.
static SMRange pointTo(SourceRange R, const SourceFiles &Sources) {
  const char *Text = Sources.text(R.File).str().data();
  return {SMLoc::getFromPointer(Text + R.Begin),
          SMLoc::getFromPointer(Text + R.End)};
}

/// \p D as it is shown, with its line if \p WithLine.
static SMDiagnostic makeShown(const Diagnostic &D, const SourceFiles &Sources,
                              const Twine &Message, bool WithLine) {
  if (!D.Range.isValid())
    return SMDiagnostic(WithLine ? "foretrace" : "", getKind(D.Level),
                        Message.str());
  const SourceLocation At = D.Range.start();
  if (!WithLine || !isShowable(At, Sources)) {
    auto [Line, Column] = Sources.locate(At);
    return SMDiagnostic(
        formatv("{0}:{1}:{2}", Sources.name(At.File), Line, Column).str(),
        getKind(D.Level), Message.str());
  }
  SmallVector<SMFixIt, 1> FixIts;
  for (const FixIt &F : D.FixIts)
    if (!F.Replacement.empty()) // a removal would show as a blank line
      FixIts.push_back(SMFixIt(pointTo(F.Range, Sources), F.Replacement));
  const SMRange Shown = pointTo(D.Range, Sources);
  return Sources.forRenderer().GetMessage(Shown.Start, getKind(D.Level),
                                          Message, Shown, FixIts);
}

/// A note at the very place of its diagnostic doesn't show the line again; one
/// without a place belongs to the message above it.
static void renderOne(const Diagnostic &D, const SourceFiles &Sources,
                      raw_ostream &OS, bool Colors, bool WithLine = true) {
  std::string Slug;
  const DiagnosticInfo &Info = getDiagnosticInfo(D.Id);
  if (D.Level == Severity::Error && Info.Level == Severity::Warning)
    Slug = (" [-Werror=" + Info.Slug + "]").str();
  else if (D.Level != Severity::Note)
    Slug = (" [" + Info.Slug + "]").str();
  makeShown(D, Sources, D.text() + Slug, WithLine).print(nullptr, OS, Colors);
  for (const Diagnostic &Note : D.Notes)
    renderOne(Note, Sources, OS, Colors,
              Note.Range.isValid() && Note.Range.start() != D.Range.start());
}

/// What says how many there are that were not kept, if there are any.
static std::optional<Diagnostic> findMore(const DiagnosticEngine &Diags) {
  const unsigned Errors = Diags.unkept(Severity::Error);
  const unsigned Warnings = Diags.unkept(Severity::Warning);
  if (Errors == 0 && Warnings == 0)
    return std::nullopt;
  Diagnostic More = {
      diag::MoreMessages, Severity::Note, SourceRange(), {}, {}, {}};
  addArgument(More.Arguments, Errors);
  addArgument(More.Arguments, Warnings);
  return More;
}

void renderText(const DiagnosticEngine &Diags, const SourceFiles &Sources,
                raw_ostream &OS, bool Colors) {
  // Whether to colour is the caller's decision, not the stream's.
  OS.enable_colors(Colors);
  WithColor::setAutoDetectFunction([](const raw_ostream &) { return true; });
  for (const Diagnostic *D : select(Diags))
    renderOne(*D, Sources, OS, Colors);
  if (const std::optional<Diagnostic> More = findMore(Diags))
    renderOne(*More, Sources, OS, Colors);
}

static void writePosition(json::OStream &JSON, SourceLocation At,
                          const SourceFiles &Sources) {
  auto [Line, Column] = Sources.locate(At);
  JSON.attribute("line", Line);
  JSON.attribute("column", Column);
}

/// file, line, column and end of \p Range, if it is written anywhere.
static void writeRange(json::OStream &JSON, SourceRange Range,
                       const SourceFiles &Sources) {
  if (!Range.isValid())
    return;
  JSON.attribute("file", Sources.name(Range.File));
  writePosition(JSON, Range.start(), Sources);
  JSON.attributeObject(
      "end", [&] { writePosition(JSON, {Range.File, Range.End}, Sources); });
}

static json::Value toJSON(const DiagnosticArgument &A) {
  if (const auto *Text = std::get_if<std::string>(&A))
    return json::fixUTF8(*Text);
  return std::visit([](const auto &Value) { return json::Value(Value); }, A);
}

static void writeDiagnostic(json::OStream &JSON, const Diagnostic &D,
                            const SourceFiles &Sources) {
  JSON.object([&] {
    JSON.attribute("slug", getDiagnosticInfo(D.Id).Slug);
    JSON.attribute("severity", getName(D.Level));
    JSON.attribute("message", json::fixUTF8(D.text()));
    JSON.attributeArray("arguments", [&] {
      for (const DiagnosticArgument &A : D.Arguments)
        JSON.value(toJSON(A));
    });
    writeRange(JSON, D.Range, Sources);
    if (D.Level == Severity::Note)
      return;
    JSON.attributeArray("notes", [&] {
      for (const Diagnostic &Note : D.Notes)
        writeDiagnostic(JSON, Note, Sources);
    });
    JSON.attributeArray("fixits", [&] {
      for (const FixIt &F : D.FixIts)
        JSON.object([&] {
          writeRange(JSON, F.Range, Sources);
          JSON.attribute("replacement", F.Replacement);
        });
    });
  });
}

/// One line.
static void renderObject(const Diagnostic &D, const SourceFiles &Sources,
                         raw_ostream &OS) {
  json::OStream JSON(OS);
  writeDiagnostic(JSON, D, Sources);
  JSON.flush();
  OS << '\n';
}

void renderJSON(const DiagnosticEngine &Diags, const SourceFiles &Sources,
                raw_ostream &OS) {
  for (const Diagnostic *D : select(Diags))
    renderObject(*D, Sources, OS);
  if (const std::optional<Diagnostic> More = findMore(Diags))
    renderObject(*More, Sources, OS);
}

} // namespace foretrace

std::string foretrace::lineOf(const SourceFiles &Sources, SourceRange Range) {
  if (!Range.isValid())
    return "";
  return formatv("{0}:{1}", Sources.name(Range.File),
                 Sources.locate(Range.start()).Line);
}
