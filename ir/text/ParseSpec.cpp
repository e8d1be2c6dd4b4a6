// SPDX-License-Identifier: Apache-2.0
//
// Reads the `spec { ... }` section: the model, and how it is trained and
// spread.
#include "ir/text/ParseParts.h"
#include "ir/text/SpecParser.h"
#include "lang/ShippedLayers.h"
#include "lang/diagnostics/Lang.h"

using namespace foretrace;
using namespace foretrace::ir;

/// The blocks of layers, after a `=`.
bool SpecParser::pattern(std::vector<LayerRun> &Out, SourceRange &At) {
  if (!In.expectPunct("="))
    return false;
  At = In.peek().Range;
  return In.expectSequence([&](int64_t Periods, llvm::ArrayRef<NamedRun> Runs) {
    LayerRun R;
    R.Periods = Periods;
    R.Range = Runs.front().Name.Range;
    for (const NamedRun &Run : Runs) {
      const BlockSpec *B = findBlock(Run.Name);
      if (!B)
        return false;
      R.Items.push_back(
          {static_cast<unsigned>(B - S.Model.Blocks.data()), Run.Count});
    }
    Out.push_back(std::move(R));
    return true;
  });
}

/// The block that is called \p Name; null, and reported, if there is none.
const BlockSpec *SpecParser::findBlock(const Token &Name) {
  std::string Text;
  if (!In.text(Name, Text))
    return nullptr;
  const BlockSpec *Found = S.Model.findBlock(Text);
  if (!Found)
    In.unknown(Name, "a block of the model", {});
  return Found;
}

bool SpecParser::layers(const Token &Word) {
  ModelSpec &M = S.Model;
  if (!M.Layers.empty())
    return In.twice(Word, "key", M.LayersRange);
  return pattern(M.Layers, M.LayersRange);
}

/// `branch mtp = 2 * moe`.
bool SpecParser::branch(const Token &Word) {
  ModelSpec &M = S.Model;
  Token Name;
  if (M.Branch)
    return In.twice(Word, "key", M.Branch->LayersRange);
  if (!In.expectName("the name of a block", Name))
    return false;
  const BlockSpec *B = findBlock(Name);
  if (!B)
    return false;
  if (!B->Mixer.find<bool>("shared") || !B->Mixer.find<int64_t>("depths"))
    return In.unknown(Name, "a block with the layer of a branch", {});
  const Located<int64_t> &Depths = B->Mixer.number("depths");
  BranchSpec Branch;
  Branch.Block = static_cast<unsigned>(B - M.Blocks.data());
  if (!pattern(Branch.Layers, Branch.LayersRange))
    return false;
  if (!Branch.isWithin(Depths.isPresent() ? *Depths : 1))
    return In.unknown(Name, "one layer of a branch too many", {});
  M.Branch = std::move(Branch);
  return true;
}

/// The value of a key of a layer; a text is one word, in quotes or not.
bool SpecParser::layerKey(LayerKey &Key) {
  const Token Here = In.peek();
  if (!std::visit([&](auto &F) { return fieldValue(F, Key.type()); },
                  Key.Value))
    return false;
  const auto *Word = std::get_if<Located<Text>>(&Key.Value);
  return !Word || Key.words().empty() ||
         llvm::is_contained(Key.words(), **Word) ||
         In.unknown(Here, "a value of this key", Key.words());
}

/// Keys of unknown kinds of layers have the types of their values.
bool SpecParser::layerUse(LayerUse &Out) {
  Token Name;
  std::string Kind;
  if (!In.expectName("the name of a kind of layer", Name) ||
      !In.text(Name, Kind))
    return false;
  if (const layers::Layer *L = findShippedLayer(Kind))
    Out = LayerUse::of(*L);
  Out.Kind = std::move(Kind);
  Out.Range = Name.Range;
  return In.expectBraces([&] {
    Token Key;
    if (!In.expectToken(Token::Kind::Word, "a key or `}`", Key))
      return false;
    LayerKey *Known = Out.findKey(Key.Text);
    if (Known && Known->isPresent())
      return In.twice(Key, "key");
    if (Known)
      return In.expectPunct("=") && layerKey(*Known);
    if (Out.Is)
      return In.unknown(Key, "a key of this section", {});
    if (Out.Keys.size() == BlockSpec::MaxLayerKeys / 2)
      return In.unknown(Key, "one key too many", {});
    LayerKey &New = Out.Keys.emplace_back();
    New.Name = Key.Text.str();
    if (!In.expectPunct("="))
      return false;
    const Token &Value = In.peek();
    if (Value.isWord("true") || Value.isWord("false"))
      New.Value.emplace<Located<bool>>();
    else if (Value.is(Token::Kind::String) || Value.is(Token::Kind::Word))
      New.Value.emplace<Located<Text>>();
    return layerKey(New);
  });
}

/// `(choice, first)`
bool SpecParser::names(std::vector<std::string> &Out) {
  if (!In.expectPunct("("))
    return false;
  do {
    Token Name;
    if (!In.expectName("the name of a value", Name) ||
        !In.text(Name, Out.emplace_back()))
      return false;
  } while (In.takePunct(","));
  return In.expectPunct(")");
}

bool SpecParser::block() {
  Token Name;
  BlockSpec B;
  if (!In.expectName("the name of a block", Name) || !In.text(Name, B.Name))
    return false;
  B.Range = Name.Range;
  for (const BlockSpec &Other : S.Model.Blocks)
    if (Other.Name == B.Name)
      return In.twice(Name, "block", Other.Range);
  S.Model.Blocks.push_back(std::move(B));
  BlockSpec &Out = S.Model.Blocks.back();
  return In.expectBraces([&] {
    Token Key = In.peek();
    for (const auto &[Word, Use] :
         {std::pair("attention", &Out.Mixer), std::pair("ffn", &Out.Network)})
      if (In.takeWord(Word))
        return Use->Kind.empty() ? layerUse(*Use) : In.twice(Key, "section");
    for (const auto &[Word, List] :
         {std::pair("receives", &Out.Receives),
          std::pair("passes", &Out.Passes), std::pair("shares", &Out.Shares),
          std::pair("aliases", &Out.Aliases), std::pair("copies", &Out.Copies),
          std::pair("sums", &Out.Sums)})
      if (In.takeWord(Word))
        return names(*List);
    if (In.takeWord("entry"))
      return Out.IsEntry = true;
    return entry("block", "`attention`, `ffn`", Out);
  });
}

bool SpecParser::modelEntry() {
  const Token Word = In.peek();
  if (In.takeWord("block"))
    return block();
  if (In.takeWord("layers"))
    return layers(Word);
  if (In.takeWord("branch"))
    return branch(Word);
  return entry("model", "`block`, `layers`, `branch`", S.Model);
}

bool SpecParser::model(const Token &Word) {
  if (S.Model.Range.isValid())
    return In.twice(Word, "section", S.Model.Range);
  Token Name = In.peek();
  if (!Name.isPunct("{") && (!In.expectName("the name of the model", Name) ||
                             !In.text(Name, S.Model.Name)))
    return false;
  S.Model.Range = Name.Range;
  return In.expectBraces([this] { return modelEntry(); });
}

bool SpecParser::layout(const Token &Word) {
  ParallelSpec &P = S.Parallel;
  if (!P.Layout.empty())
    return In.twice(Word, "key", P.LayoutRange);
  P.LayoutRange = In.peek().Range;
  if (!In.expectPunct("=") || !In.expectPunct("["))
    return false;
  do {
    Located<int64_t> L;
    SourceRange Range = In.peek().Range;
    int64_t Count;
    if (!In.expectInteger(0, Count))
      return false;
    L.state(Count, Range);
    P.Layout.push_back(L);
  } while (In.takePunct(","));
  return In.expectPunct("]");
}

/// A text with the steps of a stage.
bool SpecParser::stageSteps() {
  const Token Here = In.peek();
  std::string Line;
  if (!value(Line, ""))
    return false;
  std::vector<ScheduleSteps> &Out = S.Parallel.Steps.emplace_back();
  llvm::SmallVector<llvm::StringRef> Texts;
  llvm::StringRef(Line).split(Texts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef Text : Texts) {
    std::optional<CellEntry> Entry = parseEntry(Text);
    if (!Entry || !isCompute(Entry->Cells.front().Kind)) {
      In.Diags.report(Here.Range, diag::ScheduleCell, Text);
      return false;
    }
    Out.push_back({*Entry, Here.Range});
  }
  return true;
}

bool SpecParser::steps(const Token &Word) {
  if (!S.Parallel.Steps.empty())
    return In.twice(Word, "key");
  if (!In.expectPunct("=") || !In.expectPunct("["))
    return false;
  do {
    if (!stageSteps())
      return false;
  } while (In.takePunct(","));
  return In.expectPunct("]");
}

bool SpecParser::parallelEntry() {
  const Token Word = In.peek();
  if (In.takeWord("layout"))
    return layout(Word);
  if (In.takeWord("steps"))
    return steps(Word);
  return entry("parallel", "`layout`", S.Parallel);
}

/// `serve decode { ... }`, or without a name.
bool SpecParser::serve() {
  ServeSpec &Out = S.Serve.emplace();
  Token Name = In.peek();
  if (!Name.isPunct("{") &&
      (!In.expectName("the name of the engine", Name) ||
       !In.text(Name, Out.Name)))
    return false;
  Out.Range = Name.Range;
  return fields(Out);
}

/// `dim states over tp,cp`.
bool SpecParser::dim() {
  Token Name;
  AxisList Axes;
  if (!In.expectName("the name of a dimension", Name))
    return false;
  if (findDim(S, Name.Text))
    return In.twice(Name, "dimension");
  const Token At = In.peek();
  if (In.takeWord("over") && !In.expectAxes(Axes))
    return false;
  if (llvm::any_of(Axes, [](Axis A) { return A != Axis::Tp && A != Axis::Cp; }))
    return In.unknown(At, "tp or cp", {});
  if (S.Dims.size() == MaxDeclaredDims)
    return In.unknown(Name, "one dimension too many", {});
  S.Dims.push_back(declaredDim(Name.Text, Axes));
  return true;
}

bool SpecParser::parse() {
  return In.expectBraces([this] {
    const Token Word = In.peek();
    if (In.takeWord("dim"))
      return dim();
    if (In.takeWord("model"))
      return model(Word);
    if (In.takeWord("train"))
      return fields(S.Train);
    if (In.takeWord("parallel"))
      return In.expectBraces([this] { return parallelEntry(); });
    if (In.takeWord("requests"))
      return S.Requests ? In.twice(Word, "section")
                        : fields(S.Requests.emplace());
    if (In.takeWord("serve"))
      return S.Serve ? In.twice(Word, "section") : serve();
    if (In.takeWord("draft"))
      return S.Draft ? In.twice(Word, "section") : fields(S.Draft.emplace());
    if (In.takeWord("lora"))
      return S.Lora ? In.twice(Word, "section") : fields(S.Lora.emplace());
    if (In.takeWord("cost"))
      return cost();
    if (In.takeWord("cluster"))
      return cluster();
    if (In.takeWord("emit"))
      return emit();
    return In.expected("`dim`, `model`, `train`, `parallel`, `requests`, "
                       "`serve`, `draft`, `lora`, "
                       "`cost`, `cluster`, `emit` or `}`");
  });
}

bool foretrace::ir::parseSpec(TextReader &In, Spec &Out) {
  return SpecParser(In, Out).parse();
}
