// SPDX-License-Identifier: Apache-2.0
#include "lang/DiagnosticClient.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;

namespace foretrace {

static SourceMgr::DiagKind getKind(Severity Level) {
  switch (Level) {
  case Severity::Error:
    return SourceMgr::DK_Error;
  case Severity::Warning:
    return SourceMgr::DK_Warning;
  case Severity::Note:
  case Severity::Hint:
    return SourceMgr::DK_Note;
  }
  llvm_unreachable("unknown severity");
}

/// Longer lines are not shown: the caret would be too hard to find.
static constexpr size_t MaxShownLine = 1000;

/// Returns whether the line of \p At is short enough to show, and text: a
/// terminal would obey anything else.
static bool isShowable(SourceLocation At, const SourceFiles &Sources) {
  const StringRef Line = Sources.line(At);
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
static void printSource(const Diagnostic &D, const SourceFiles &Sources,
                        raw_ostream &OS, bool HasColors, bool WithLine = true) {
  std::string Slug;
  const DiagnosticInfo &Info = getDiagnosticInfo(D.Id);
  if (D.Level == Severity::Error && Info.Level == Severity::Warning)
    Slug = (" [-Werror=" + Info.Slug + "]").str();
  else if (D.Level != Severity::Note)
    Slug = (" [" + Info.Slug + "]").str();
  makeShown(D, Sources, D.text() + Slug, WithLine)
      .print(nullptr, OS, HasColors);
  for (const Diagnostic &Note : D.Notes)
    printSource(Note, Sources, OS, HasColors,
                Note.Range.isValid() && Note.Range.start() != D.Range.start());
}

/// `run/rank0.txt:3: rank 0: text [slug]`, and notes beneath it. What is of no
/// file and no defect is its text alone.
static void printArtifact(const Diagnostic &D, raw_ostream &OS,
                          bool HasLevels) {
  const ArtifactPlace &At = *D.At;
  if (!At.Path.empty()) {
    OS << At.Path << ':';
    if (At.Line)
      OS << *At.Line << ':';
    if (!At.Part.empty())
      OS << ' ' << At.Part << ':';
    OS << ' ';
  }
  const bool IsOfFile = HasLevels && !At.Path.empty();
  if (IsOfFile || D.Level == Severity::Hint)
    OS << getName(D.Level) << ": ";
  OS << printable(D.text());
  if (IsOfFile || D.Level < Severity::Note)
    OS << " [" << getDiagnosticInfo(D.Id).Slug << ']';
  OS << '\n';
  for (const Diagnostic &Note : D.Notes)
    OS << "  " << printable(Note.text()) << '\n';
}

namespace {

class TextClient : public DiagnosticClient {
public:
  TextClient(raw_ostream &OS, TextStyle Style) : OS(OS), Style(Style) {}

  void show(const Diagnostic &D, const SourceFiles &Sources) override {
    if (D.At)
      return printArtifact(D, OS, Style.HasLevels);
    // The caller decides whether to colour, not the stream.
    OS.enable_colors(Style.HasColors);
    WithColor::setAutoDetectFunction([](const raw_ostream &) { return true; });
    printSource(D, Sources, OS, Style.HasColors);
  }

private:
  raw_ostream &OS;
  const TextStyle Style;
};

} // namespace

std::unique_ptr<DiagnosticClient> makeTextClient(raw_ostream &OS,
                                                 TextStyle Style) {
  return std::make_unique<TextClient>(OS, Style);
}

} // namespace foretrace
