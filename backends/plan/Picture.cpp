// SPDX-License-Identifier: Apache-2.0
//
// A partition as SVG: a column for each stage, from top to bottom its chunks
// and their layers. Equal stages are one column.
#include "backends/plan/Formats.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::plan;
using llvm::formatv;

namespace {

// In pixels.
constexpr int64_t Column = 150, Gap = 20, Line = 22, Top = 60;

/// Colours that can be told apart, with or without red and green (Okabe and
/// Ito).
constexpr llvm::StringLiteral Colours[] = {"#56b4e9", "#e69f00", "#009e73",
                                           "#f0e442", "#cc79a7", "#d55e00"};

class Drawing {
public:
  Drawing(const Program &P, const Rows &R, llvm::raw_ostream &OS)
      : P(P), R(R), OS(OS) {}

  void draw();

private:
  void column(int64_t X, llvm::ArrayRef<const Row *> Chunks);
  void block(int64_t X, int64_t &Y, const LayerGroup &G);
  void label(int64_t X, int64_t Y, llvm::StringRef Text,
             llvm::StringRef Class = "");

  const Program &P;
  const Rows &R;
  llvm::raw_ostream &OS;
};

} // namespace

/// Text in XML.
static std::string escape(llvm::StringRef Text) {
  std::string Out;
  for (char C : Text)
    switch (C) {
    case '<':
      Out += "&lt;";
      break;
    case '&':
      Out += "&amp;";
      break;
    default:
      Out += C;
    }
  return Out;
}

void Drawing::label(int64_t X, int64_t Y, llvm::StringRef Text,
                    llvm::StringRef Class) {
  OS << formatv("<text x=\"{0}\" y=\"{1}\"{2}>{3}</text>\n", X, Y,
                Class.empty() ? "" : (" class=\"" + Class + "\"").str(),
                escape(Text));
}

/// The runs of a group, each in the colour of its block.
void Drawing::block(int64_t X, int64_t &Y, const LayerGroup &G) {
  for (const BlockRun &Run : G.Runs) {
    std::string Text = P.Blocks[Run.Block].Name;
    if (const int64_t Count = Run.Count * G.Periods; Count > 1)
      Text = std::to_string(Count) + " " + Text;
    OS << formatv("<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" "
                  "fill=\"{4}\"/>\n",
                  X, Y, Column, Line - 2,
                  Colours[Run.Block.Index % std::size(Colours)]);
    label(X + 8, Y + 14, Text);
    Y += Line;
  }
}

void Drawing::column(int64_t X, llvm::ArrayRef<const Row *> Chunks) {
  const Range Stages = Chunks.front()->Stages;
  std::string Title = "stage " + std::to_string(Stages.First);
  if (Stages.Count > 1)
    Title = "stages " + std::to_string(Stages.First) + " to " +
            std::to_string(Stages.First + Stages.Count - 1);
  label(X, Top - 24, Title, "title");
  Weight Whole;
  for (const Row *Chunk : Chunks)
    Whole += Chunk->Of * Chunk->Chunks.Count;
  label(X, Top - 8,
        formatv("{0:f2} G parameters",
                static_cast<double>(Whole.Parameters.value()) / 1e9)
            .str());
  int64_t Y = Top;
  for (const Row *Chunk : Chunks) {
    if (Chunk->Chunks.Count > 1) {
      label(X, Y + 14, std::to_string(Chunk->Chunks.Count) + " chunks, each");
      Y += Line;
    }
    for (const LayerGroup &G : *Chunk->Layers)
      block(X, Y, G);
    Y += 6;
  }
}

void Drawing::draw() {
  std::vector<std::vector<const Row *>> Columns;
  size_t Tallest = 0;
  for (const Row &Row : R.All) {
    if (Columns.empty() ||
        Columns.back().front()->Stages.First != Row.Stages.First)
      Columns.emplace_back();
    Columns.back().push_back(&Row);
  }
  for (const auto &Chunks : Columns) {
    size_t Lines = 0;
    for (const Row *Chunk : Chunks) {
      Lines += 2;
      for (const LayerGroup &G : *Chunk->Layers)
        Lines += G.Runs.size();
    }
    Tallest = std::max(Tallest, Lines);
  }
  const int64_t Width =
      Gap + static_cast<int64_t>(Columns.size()) * (Column + Gap);
  const int64_t Height = Top + static_cast<int64_t>(Tallest) * Line;
  OS << formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
                "height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n",
                Width, Height)
     << "<style>text { font: 12px sans-serif } .title { font-weight: bold "
        "}</style>\n";
  OS << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  int64_t X = Gap;
  for (const auto &Chunks : Columns) {
    column(X, Chunks);
    X += Column + Gap;
  }
  OS << "</svg>\n";
}

void foretrace::plan::writeSVG(const Program &P, const Rows &R,
                               llvm::raw_ostream &OS) {
  Drawing(P, R, OS).draw();
}
