// SPDX-License-Identifier: Apache-2.0
//
// A schedule as SVG: a row for each stage, a box for each step, time from left
// to right. What shows between boxes is the bubble. Follows the viewer's light
// or dark scheme.
#include "backends/Palette.h"
#include "backends/schedule/Writers.h"
#include "ir/model/Spellings.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::schedule;
using llvm::formatv;

namespace {

// In pixels. No digit is wider on average.
constexpr int64_t Left = 72, Top = 44, Row = 26, Gap = 4, Margin = 16,
                  Digit = 8, Widest = 26, Narrowest = 4, Preferred = 1600;

/// Colours of a kind of step. The second colour is of odd chunks.
struct Style {
  ActionKind Kind;
  llvm::StringLiteral Letter, Colours[2], Doc;
  std::string classOf(int64_t Chunk) const {
    return Letter.lower() + std::to_string(Chunk % 2);
  }
};
constexpr Style Styles[] = {
#define STEP_STYLE(KIND, LETTER, COLOUR, PALE, DOC)                            \
  {ActionKind::KIND, LETTER, {palette::COLOUR.Light, palette::PALE.Light}, DOC},
#include "backends/ranks/StepStyles.def"
};

class Gantt {
public:
  Gantt(const Schedule &S, const PipelineFigures &F, llvm::raw_ostream &OS)
      : S(S), F(F), OS(OS), Length(std::max<int64_t>(F.Makespan, 1)),
        Width(F.Time == StepTime::Cost
                  ? Preferred
                  : std::clamp(Preferred / Length, Narrowest, Widest) *
                        Length) {}

  void draw();

private:
  void style();
  void axis();
  void stage(int64_t Stage);
  void box(int64_t Stage, const Span &Of, size_t Step);
  void text(int64_t X, int64_t Y, llvm::StringRef Class, llvm::StringRef Text);
  void legend();
  bool has(ActionKind K) const;
  /// Returns the width of a duration.
  int64_t width(int64_t Time) const {
    return static_cast<int64_t>(static_cast<__int128>(Time) * Width / Length);
  }
  int64_t x(int64_t Time) const { return Left + width(Time); }
  std::string label(int64_t Time) const;
  static int64_t y(int64_t Stage) { return Top + Stage * (Row + Gap); }

  const Schedule &S;
  const PipelineFigures &F;
  llvm::raw_ostream &OS;
  const int64_t Length, Width; ///< of all, in time and in pixels
};

} // namespace

void Gantt::text(int64_t X, int64_t Y, llvm::StringRef Class,
                 llvm::StringRef Text) {
  OS << formatv("<text x=\"{0}\" y=\"{1}\" class=\"{2}\">{3}</text>\n", X, Y,
                Class, Text);
}

/// Colours that differ between the themes.
static void writeTheme(llvm::StringLiteral Colour::*Shade,
                       llvm::raw_ostream &OS) {
  OS << "text { fill: " << palette::Text.*Shade << " }\n"
     << ".step { fill: " << palette::OnColour.*Shade << " }\n"
     << ".page { fill: " << palette::Ground.*Shade << " }\n"
     << ".idle { fill: " << palette::Bubble.*Shade << " }\n"
     << ".tick { stroke: " << palette::Line.*Shade << " }\n";
}

void Gantt::style() {
  OS << "<style>\n"
        "text { font: 12px sans-serif }\n"
        ".title { font-weight: bold }\n"
        ".time { font-size: 11px; text-anchor: middle }\n"
        ".step { font-size: 11px; text-anchor: middle; pointer-events: none "
        "}\n";
  writeTheme(&Colour::Light, OS);
  for (const Style &Of : Styles)
    for (int64_t Chunk : {0, 1})
      OS << formatv(".{0} {{ fill: {1} }\n", Of.classOf(Chunk),
                    Of.Colours[Chunk]);
  OS << "@media (prefers-color-scheme: dark) {\n";
  writeTheme(&Colour::Dark, OS);
  OS << "}\n</style>\n";
}

/// `12`; `1.5 ms` of nanoseconds.
std::string Gantt::label(int64_t Time) const {
  if (F.Time == StepTime::Unit)
    return std::to_string(Time);
  const double Ns = static_cast<double>(Time);
  return Time < 1'000'000 ? formatv("{0:f1} us", Ns / 1e3).str()
                          : formatv("{0:f1} ms", Ns / 1e6).str();
}

/// Draws a mark where there is room for its number.
void Gantt::axis() {
  const int64_t Room = F.Time == StepTime::Unit ? 5 * Digit : 12 * Digit;
  int64_t Every = 1;
  for (int64_t Factor = 5; width(Every) < Room; Factor = 7 - Factor)
    Every *= Factor;
  for (int64_t Time = 0; Time <= F.Makespan; Time += Every) {
    text(x(Time), Top - 10, "time", label(Time));
    OS << formatv("<path class=\"tick\" d=\"M{0} {1}v5\"/>\n", x(Time),
                  Top - 7);
  }
}

/// Steps that overlap share the height.
void Gantt::box(int64_t Stage, const Span &Of, size_t Step) {
  const Action &A = Of.Steps[Step];
  const auto Shares = static_cast<int64_t>(Of.Steps.size());
  const int64_t Height = Row / Shares;
  const int64_t Y = y(Stage) + static_cast<int64_t>(Step) * Height;
  const int64_t Width =
      std::max<int64_t>(x(Of.End) - x(Of.Start) - 1, Of.End > Of.Start);
  const Style *Drawn =
      llvm::find_if(Styles, [&](const Style &S) { return S.Kind == A.Kind; });
  OS << formatv("<rect class=\"{0}\" x=\"{1}\" y=\"{2}\" width=\"{3}\" "
                "height=\"{4}\"><title>stage {5}: {6} of micro-batch {7}",
                Drawn->classOf(A.Chunk), x(Of.Start), Y, Width,
                Shares > 1 ? Height - 1 : Height, Stage, getName(A.Kind),
                A.MicroBatch);
  if (S.Chunks > 1)
    OS << formatv(", chunk {0}, part {1} of the model", A.Chunk,
                  S.partOf(Stage, A.Chunk));
  OS << formatv("; {0} to {1}{2}</title></rect>\n", label(Of.Start),
                label(Of.End), Shares > 1 ? ", overlapped" : "");
  const std::string Label = std::to_string(A.MicroBatch);
  if (static_cast<int64_t>(Label.size()) * Digit <= Width)
    text(x(Of.Start) + Width / 2, Y + Height / 2 + 4, "step", Label);
}

void Gantt::stage(int64_t Stage) {
  const StageFigures &Of = F.Stages[static_cast<size_t>(Stage)];
  text(Margin, y(Stage) + Row / 2 + 4, "name",
       "stage " + std::to_string(Stage));
  OS << formatv("<rect class=\"idle\" x=\"{0}\" y=\"{1}\" width=\"{2}\" "
                "height=\"{3}\"><title>stage {4}: {5} of work, {6} idle"
                "</title></rect>\n",
                Left, y(Stage), width(F.Makespan), Row, Stage, label(Of.Work),
                label(F.Makespan - Of.Work));
  for (const Span &At : Of.Spans)
    for (size_t Step = 0; Step < At.Steps.size(); ++Step)
      box(Stage, At, Step);
}

bool Gantt::has(ActionKind K) const {
  return llvm::any_of(F.Stages, [K](const StageFigures &Of) {
    return llvm::any_of(Of.Spans, [K](const Span &At) {
      return llvm::any_of(At.Steps,
                          [K](const Action &A) { return A.Kind == K; });
    });
  });
}

void Gantt::legend() {
  const int64_t Y = y(S.Stages) + Row;
  int64_t X = Left;
  auto Entry = [&](llvm::StringRef Class, llvm::StringRef Doc) {
    OS << formatv("<rect class=\"{0}\" x=\"{1}\" y=\"{2}\" width=\"12\" "
                  "height=\"12\"/>\n",
                  Class, X, Y - 11);
    text(X + 18, Y, "name", Doc);
    X += 100;
  };
  for (const Style &Of : Styles)
    if (has(Of.Kind))
      Entry(Of.classOf(0), Of.Doc);
  Entry("idle", "idle");
  text(Left, Y + Row, "name",
       S.Chunks > 1 ? "numbers: micro-batches; pale: every other chunk"
                    : "numbers: micro-batches");
}

void Gantt::draw() {
  const int64_t Width =
      std::max(x(F.Makespan), x(0) + 6 * 100) + Margin; // of the legend
  OS << formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
                "height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n",
                Width, y(S.Stages) + 3 * Row);
  style();
  OS << "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n";
  text(Margin, 18, "title",
       formatv("{0}: {1} stages, {2} micro-batches; span {3}, bubble {4}",
               getSpelling(S.Kind), S.Stages, S.MicroBatches, label(F.Makespan),
               label(F.bubble()))
           .str());
  axis();
  for (int64_t Stage = 0; Stage < S.Stages; ++Stage)
    stage(Stage);
  legend();
  OS << "</svg>\n";
}

void schedule::writeSVG(const Schedule &S, const PipelineFigures &F,
                        llvm::raw_ostream &OS) {
  Gantt(S, F, OS).draw();
}
