// SPDX-License-Identifier: Apache-2.0
#include "backends/report/Parts.h"
#include "backends/report/Tiles.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::report;

namespace {

class TileWriter {
public:
  TileWriter(Explanations &Of, llvm::json::OStream &J) : Of(Of), J(J) {}

  void write(const Tile &T);

private:
  void number(const TileNumber &N);
  void phrase(llvm::StringRef Key, const Phrase &Words);

  Explanations &Of;
  llvm::json::OStream &J;
};

} // namespace

void TileWriter::number(const TileNumber &N) {
  J.attributeBegin("value");
  if (N.Sizes)
    Of.writeNumber(J, N.Of.number(), *N.Sizes, N.Of.From.value_or(ExprId()));
  else
    J.value(toString(N.Of.number()));
  J.attributeEnd();
  J.attribute("unit", getName(N.Unit));
}

void TileWriter::phrase(llvm::StringRef Key, const Phrase &Words) {
  J.attributeArray(Key, [&] {
    for (const auto &Each : Words)
      if (const auto *Text = std::get_if<std::string>(&Each))
        J.value(*Text);
      else
        J.object([&] { number(std::get<TileNumber>(Each)); });
  });
}

void TileWriter::write(const Tile &T) {
  J.attribute("key", T.Key);
  J.attribute("title", T.Title);
  J.attribute("section", T.Section);
  J.attribute("verdict", !T.IsGood ? "none" : *T.IsGood ? "good" : "bad");
  phrase("headline", T.Headline);
  phrase("detail", T.Detail);
  phrase("reason", T.Reason);
  if (!T.Why.empty())
    J.attribute("why", T.Why);
  J.attributeArray("terms", [&] {
    for (const TileTerm &Each : T.Terms)
      J.object([&] {
        J.attribute("title", Each.Title);
        if (!Each.Colour.empty())
          J.attribute("colour", Each.Colour);
        number(Each.Of);
      });
  });
}

void report::writeTiles(const EmitRequest &Request, llvm::ArrayRef<Answer> All,
                        Explanations &Of, llvm::json::OStream &J) {
  J.attributeArray("tiles", [&] {
    for (const Tile &T : TileMaker(Request, All).make())
      J.object([&] { TileWriter(Of, J).write(T); });
  });
  J.attributeArray("memory_parts", [&] {
    for (const MemoryPart &Each : memoryParts(Request.Program.Spec))
      J.object([&] {
        J.attribute("column", Each.Column);
        J.attribute("title", Each.Title);
        J.attribute("colour", Each.Fill.Name);
      });
  });
}
