// SPDX-License-Identifier: Apache-2.0
//
// A partition as SVG: a column for each stage, from top to bottom its chunks
// and their layers, in order, as high as their parameters are many. Equal
// stages are one column; what repeats is drawn once, beside the number of
// times.
#include "backends/Palette.h"
#include "backends/plan/Formats.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::plan;
using llvm::formatv;

namespace {

// In pixels. No character of most fonts at hand is wider on average.
constexpr int64_t Column = 190, Strip = 40, Gap = 20, Line = 18, Character = 8,
                  Top = 3 * Line, Tallest = 400;

/// Fills of kinds of layers, in order.
constexpr Colour Colours[] = {palette::Layer0, palette::Layer1,
                              palette::Layer2, palette::Layer3,
                              palette::Layer4, palette::Layer5};

class Drawing {
public:
  Drawing(const Program &P, const PlanRows &R, llvm::raw_ostream &OS);

  void draw();

private:
  /// Part of a column: what it is and its parameters, from the top on.
  struct Part {
    std::string Text;
    int64_t From, Size;
  };

  using Stage = std::vector<const PartitionRow *>; ///< the chunks of one
  static int64_t parameters(const Stage &S);
  void column(const Stage &Chunks);
  void group(int64_t X, int64_t &Done, int64_t Times, const LayerGroup &G);
  void box(int64_t X, int64_t Width, llvm::StringRef Colour, const Part &Of);
  void label(int64_t X, int64_t Y, int64_t Width, llvm::StringRef Text,
             llvm::StringRef Class = "");
  void legend(int64_t Y, int64_t Width);
  int64_t height(int64_t Parameters) const {
    return static_cast<int64_t>(static_cast<__int128>(Parameters) * Tallest /
                                Largest);
  }

  const Program &P;
  const PlanRows &R;
  llvm::raw_ostream &OS;
  std::vector<Stage> Stages;
  llvm::SmallSetVector<unsigned, 8> Shown; ///< blocks
  int64_t Largest = 1;                     ///< parameters of a stage
};

} // namespace

int64_t Drawing::parameters(const Stage &S) {
  int64_t Sum = 0; // makeRows saw that it fits
  for (const PartitionRow *Chunk : S)
    Sum += Chunk->Of.Parameters.value() * Chunk->Chunks.Count;
  return Sum;
}

Drawing::Drawing(const Program &P, const PlanRows &R, llvm::raw_ostream &OS)
    : P(P), R(R), OS(OS) {
  for (const PartitionRow &Row : R.Rows) {
    if (Stages.empty() ||
        Stages.back().front()->Stages.First != Row.Stages.First)
      Stages.emplace_back();
    Stages.back().push_back(&Row);
    for (const LayerGroup &G : *Row.Layers)
      for (const BlockRun &Run : G.Runs)
        Shown.insert(Run.Block.Index);
  }
  for (const Stage &S : Stages)
    Largest = std::max(Largest, parameters(S));
}

/// "3.09 G", or all digits of a small number.
static std::string round(int64_t Count) {
  const auto Real = static_cast<double>(Count);
  return Count < 1'000'000       ? llvm::itostr(Count)
         : Count < 1'000'000'000 ? formatv("{0:f2} M", Real / 1e6).str()
                                 : formatv("{0:f2} G", Real / 1e9).str();
}

/// Text in XML.
static std::string escape(llvm::StringRef Text) {
  std::string Out;
  llvm::raw_string_ostream OS(Out);
  llvm::printHTMLEscaped(Text, OS);
  return Out;
}

/// Writes a label; shortens texts longer than \p Width and adds dots.
void Drawing::label(int64_t X, int64_t Y, int64_t Width, llvm::StringRef Text,
                    llvm::StringRef Class) {
  const auto Most =
      static_cast<size_t>(std::max<int64_t>(Width / Character, 2));
  const std::string Shown = Text.size() <= Most
                                ? Text.str()
                                : (Text.take_front(Most - 2) + "..").str();
  OS << formatv("<text x=\"{0}\" y=\"{1}\"{2}>{3}</text>\n", X, Y,
                Class.empty() ? "" : (" class=\"" + Class + "\"").str(),
                escape(Shown));
}

/// Draws a box. If it is too low for a label, a tooltip has the text.
void Drawing::box(int64_t X, int64_t Width, llvm::StringRef Colour,
                  const Part &Of) {
  const int64_t Y = Top + height(Of.From);
  const int64_t Height =
      std::max<int64_t>(Top + height(Of.From + Of.Size) - Y - 1, 1);
  OS << formatv("<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" "
                "fill=\"{4}\"><title>{5}: {6} parameters</title></rect>\n",
                X, Y, Width - 1, Height, Colour, escape(Of.Text),
                round(Of.Size));
  if (Height >= Line - 4)
    label(X + 6, Y + Height / 2 + 4, Width - 8, Of.Text);
}

/// Draws a sequence of runs, \p Times as high as one period.
void Drawing::group(int64_t X, int64_t &Done, int64_t Times,
                    const LayerGroup &G) {
  const bool IsFolded = G.Periods > 1 && G.Runs.size() > 1;
  const int64_t First = Done, Left = X + (IsFolded ? Strip : 0);
  for (const BlockRun &Run : G.Runs) {
    const Block &B = P.Blocks[Run.Block];
    const int64_t Count = Run.Count * (IsFolded ? 1 : G.Periods);
    Part Of{(Count > 1 ? std::to_string(Count) + " " : "") + B.Name, Done,
            R.Blocks[Run.Block.Index].Parameters.value() * Run.Count *
                G.Periods * Times};
    Done += Of.Size;
    box(Left, Column - Left,
        Colours[Run.Block.Index % std::size(Colours)].Light, Of);
  }
  if (IsFolded)
    box(X, Strip, palette::Faint.Light,
        {std::to_string(G.Periods) + " x", First, Done - First});
}

void Drawing::column(const Stage &Chunks) {
  const IndexRange Of = Chunks.front()->Stages;
  std::string Title = "stage " + std::to_string(Of.First);
  if (Of.Count > 1)
    Title = "stages " + std::to_string(Of.First) + " to " +
            std::to_string(Of.First + Of.Count - 1);
  label(0, Top - 24, Column, Title, "title");
  label(0, Top - 8, Column, round(parameters(Chunks)) + " parameters");
  int64_t Done = 0;
  for (const PartitionRow *Chunk : Chunks) {
    const int64_t Times = Chunk->Chunks.Count;
    const int64_t Size = Chunk->Of.Parameters.value() * Times;
    if (Times > 1)
      box(0, Strip, palette::Other.Light,
          {std::to_string(Times) + " x", Done, Size});
    if (Chunk != Chunks.front())
      OS << formatv("<rect y=\"{0}\" width=\"{1}\" height=\"2\"/>\n",
                    Top + height(Done) - 2, Column - 1);
    for (const LayerGroup &G : *Chunk->Layers)
      group(Times > 1 ? Strip : 0, Done, Times, G);
  }
}

/// Draws the legend of the colours and heights.
void Drawing::legend(int64_t Y, int64_t Width) {
  label(Gap, Y, Width, "heights: parameters per rank");
  if (P.Schedule.Chunks > 1)
    label(Gap, Y += Line, Width,
          "black lines: between chunks; dark grey: equal ones");
  for (unsigned Index : Shown) {
    Y += Line;
    OS << formatv("<rect x=\"{0}\" y=\"{1}\" width=\"12\" height=\"12\" "
                  "fill=\"{2}\"/>\n",
                  Gap, Y - 11, Colours[Index % std::size(Colours)].Light);
    label(Gap + Line, Y, Width - Line,
          round(R.Blocks[Index].Parameters.value()) + " " +
              P.Blocks[BlockId{Index}].Name);
  }
}

void Drawing::draw() {
  const int64_t Width =
      static_cast<int64_t>(std::max<size_t>(Stages.size(), 2)) * (Column + Gap);
  const int64_t Bottom = Top + Tallest + Gap;
  OS << formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
                "height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n",
                Width + Gap,
                Bottom + Line * (static_cast<int64_t>(Shown.size()) + 3))
     << "<style>text { font: 12px sans-serif } .title { font-weight: bold "
        "}</style>\n"
     << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  int64_t X = Gap;
  for (const Stage &S : Stages) {
    // Cuts off what is wider.
    OS << formatv("<svg x=\"{0}\" width=\"{1}\" height=\"{2}\">\n", X, Column,
                  Bottom);
    column(S);
    OS << "</svg>\n";
    X += Column + Gap;
  }
  legend(Bottom + Line, Width);
  OS << "</svg>\n";
}

void foretrace::plan::writeSVG(const Program &P, const PlanRows &R,
                               llvm::raw_ostream &OS) {
  Drawing(P, R, OS).draw();
}
