// SPDX-License-Identifier: Apache-2.0
//
// Reads the `spec { ... }` section. Fields come from the tables of ir/Spec.def,
// so a new key is read without a change here.
#include "ir/ParseParts.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class SpecParser {
public:
  SpecParser(TextReader &In, Spec &S) : In(In), S(S) {}

  bool parse();

private:
  bool model();
  bool modelEntry();
  bool layers();
  bool block();
  bool parallelEntry();
  bool layout();
  bool steps();
  bool stageSteps();
  bool cost();
  bool time();
  bool link();
  bool emit();

  bool value(int64_t &V, llvm::StringRef Type) {
    return In.expectInteger(Type == "Natural" || Type == "Duration" ? 0 : 1, V);
  }
  bool value(bool &V, llvm::StringRef);
  bool value(std::string &V, llvm::StringRef) {
    Token T;
    return In.expectToken(Token::Kind::String, "a string", T) && In.text(T, V);
  }
  template <typename EnumT, typename = std::enable_if_t<std::is_enum_v<EnumT>>>
  bool value(EnumT &V, llvm::StringRef) {
    return In.expectSpelling("a value of this key", V);
  }
  bool value(Attribute &A, unsigned Depth);
  bool list(Attribute &A, unsigned Depth);
  bool section(Attribute &A, unsigned Depth);

  /// Reads `= value`, and how an unstated value came to be.
  template <typename T>
  bool field(const Token &Key, Located<T> &F, llvm::StringRef Type);
  /// Reads one `key = value` of a struct; nothing if it has no such key.
  template <typename SpecT> std::optional<bool> field(const Token &, SpecT &);
  /// Reads all of a section that holds nothing but fields.
  template <typename SpecT> bool fields(SpecT &Out);

  TextReader &In;
  Spec &S;
};

} // namespace

bool SpecParser::value(bool &V, llvm::StringRef) {
  V = In.peek().isWord("true");
  return In.takeWord("true") || In.takeWord("false") ||
         In.expected("`true` or `false`");
}

template <typename T>
bool SpecParser::field(const Token &Key, Located<T> &F, llvm::StringRef Type) {
  using Origin = typename Located<T>::Origin;
  if (F.isPresent())
    return In.twice(Key, "key", F.Range);
  if (!In.expectPunct("="))
    return false;
  F.Range = In.peek().Range;
  if (!value(F.Value, Type))
    return false;
  F.From = In.takeWord("default")   ? Origin::Default
           : In.takeWord("derived") ? Origin::Derived
                                    : Origin::Stated;
  return true;
}

#define FIELD(KEY, MEMBER, TYPE)                                               \
  if (Key.isWord(KEY))                                                         \
    return field(Key, Out.MEMBER, TYPE);
template <>
std::optional<bool> SpecParser::field(const Token &Key, ModelSpec &Out) {
#define MODEL_FIELD(TYPE, MEMBER, KEY, ALIASES, DOC) FIELD(KEY, MEMBER, #TYPE)
#include "ir/Spec.def"
  return std::nullopt;
}
template <>
std::optional<bool> SpecParser::field(const Token &Key, AttentionSpec &Out) {
#define ATTENTION_FIELD(TYPE, MEMBER, KEY, ALIASES, DOC)                       \
  FIELD(KEY, MEMBER, #TYPE)
#include "ir/Spec.def"
  return std::nullopt;
}
template <>
std::optional<bool> SpecParser::field(const Token &Key, FfnSpec &Out) {
#define FFN_FIELD(TYPE, MEMBER, KEY, ALIASES, DOC) FIELD(KEY, MEMBER, #TYPE)
#include "ir/Spec.def"
  return std::nullopt;
}
template <>
std::optional<bool> SpecParser::field(const Token &Key, MoeSpec &Out) {
#define MOE_FIELD(TYPE, MEMBER, KEY, ALIASES, DOC) FIELD(KEY, MEMBER, #TYPE)
#include "ir/Spec.def"
  return std::nullopt;
}
template <>
std::optional<bool> SpecParser::field(const Token &Key, TrainSpec &Out) {
#define TRAIN_FIELD(TYPE, MEMBER, KEY, ALIASES, DOC) FIELD(KEY, MEMBER, #TYPE)
#include "ir/Spec.def"
  return std::nullopt;
}
template <>
std::optional<bool> SpecParser::field(const Token &Key, ParallelSpec &Out) {
#define PARALLEL_FIELD(TYPE, MEMBER, KEY, ALIASES, DOC)                        \
  FIELD(KEY, MEMBER, #TYPE)
#include "ir/Spec.def"
  return std::nullopt;
}
template <>
std::optional<bool> SpecParser::field(const Token &Key, CostSpec &Out) {
#define COST_FIELD(TYPE, MEMBER, KEY, ALIASES, DOC) FIELD(KEY, MEMBER, #TYPE)
#include "ir/Spec.def"
  return std::nullopt;
}
template <>
std::optional<bool> SpecParser::field(const Token &Key, DeviceSpec &Out) {
#define DEVICE_FIELD(TYPE, MEMBER, KEY, ALIASES, DOC) FIELD(KEY, MEMBER, #TYPE)
#include "ir/Spec.def"
  return std::nullopt;
}
template <>
std::optional<bool> SpecParser::field(const Token &Key, LinkSpec &Out) {
#define LINK_FIELD(TYPE, MEMBER, KEY, ALIASES, DOC) FIELD(KEY, MEMBER, #TYPE)
#include "ir/Spec.def"
  return std::nullopt;
}
#undef FIELD

template <typename SpecT> bool SpecParser::fields(SpecT &Out) {
  SourceRange Open = In.peek().Range;
  bool Ok = In.expectBraces([&] {
    Token Key;
    if (!In.expectToken(Token::Kind::Word, "a key or `}`", Key))
      return false;
    std::optional<bool> Read = field(Key, Out);
    return Read ? *Read : In.unknown(Key, "a key of this section", {});
  });
  if constexpr (!std::is_same_v<SpecT, TrainSpec> &&
                !std::is_same_v<SpecT, DeviceSpec>)
    Out.Range = Open;
  return Ok;
}

bool SpecParser::layers() {
  ModelSpec &M = S.Model;
  if (!M.Layers.empty())
    return In.twice(In.peek(), "layer pattern", M.LayersRange);
  if (!In.expectPunct("="))
    return false;
  M.LayersRange = In.peek().Range;
  return In.expectSequence([&](int64_t Periods, llvm::ArrayRef<NamedRun> Runs) {
    LayerRun R;
    R.Periods = Periods;
    R.Range = Runs.front().Name.Range;
    for (const NamedRun &Run : Runs) {
      std::string Name;
      if (!In.text(Run.Name, Name))
        return false;
      auto It = llvm::find_if(
          M.Blocks, [&](const BlockSpec &B) { return B.Name == Name; });
      if (It == M.Blocks.end())
        return In.unknown(Run.Name, "a block of the model", {});
      R.Items.push_back(
          {static_cast<unsigned>(It - M.Blocks.begin()), Run.Count});
    }
    M.Layers.push_back(std::move(R));
    return true;
  });
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
    if (In.takeWord("attention"))
      return fields(Out.Attention);
    if (In.takeWord("ffn"))
      return fields(Out.Ffn);
    if (!In.takeWord("moe"))
      return In.expected("`attention`, `ffn`, `moe` or `}`");
    if (Out.Moe)
      return In.twice(Key, "section");
    return fields(Out.Moe.emplace());
  });
}

bool SpecParser::modelEntry() {
  if (In.takeWord("block"))
    return block();
  if (In.takeWord("layers"))
    return layers();
  Token Key;
  if (!In.expectToken(Token::Kind::Word, "a key, `block`, `layers` or `}`",
                      Key))
    return false;
  std::optional<bool> Read = field(Key, S.Model);
  return Read ? *Read : In.unknown(Key, "a key of `model`", {});
}

bool SpecParser::model() {
  Token Name = In.peek();
  if (!Name.isPunct("{") && (!In.expectName("the name of the model", Name) ||
                             !In.text(Name, S.Model.Name)))
    return false;
  S.Model.Range = Name.Range;
  return In.expectBraces([this] { return modelEntry(); });
}

bool SpecParser::layout() {
  ParallelSpec &P = S.Parallel;
  P.LayoutRange = In.peek().Range;
  if (!P.Layout.empty())
    return In.twice(In.peek(), "layout");
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

bool SpecParser::steps() {
  if (!S.Parallel.Steps.empty())
    return In.twice(In.peek(), "key");
  if (!In.expectPunct("=") || !In.expectPunct("["))
    return false;
  do {
    if (!stageSteps())
      return false;
  } while (In.takePunct(","));
  return In.expectPunct("]");
}

bool SpecParser::parallelEntry() {
  if (In.takeWord("layout"))
    return layout();
  if (In.takeWord("steps"))
    return steps();
  Token Key;
  if (!In.expectToken(Token::Kind::Word, "a key, `layout` or `}`", Key))
    return false;
  std::optional<bool> Read = field(Key, S.Parallel);
  return Read ? *Read : In.unknown(Key, "a key of `parallel`", {});
}

bool SpecParser::time() {
  Token Section;
  ProfileTime T;
  if (!In.expectName("the name of a section or `}`", Section) ||
      !In.text(Section, T.Section) || !In.expectPunct("=") ||
      !In.expectReal(T.Microseconds, ProfileTime::MaxMicroseconds))
    return false;
  T.Range = Section.Range;
  S.Cost.Profile.push_back(std::move(T));
  return true;
}

bool SpecParser::link() {
  LinkSpec L;
  const Token Key = In.peek();
  if (!In.expectSpelling("an axis", L.Axis))
    return false;
  if (const LinkSpec *Before = S.Cost.findLink(L.Axis))
    return In.twice(Key, "link", Before->Range);
  if (!fields(L))
    return false;
  S.Cost.Links.push_back(L);
  return true;
}

bool SpecParser::cost() {
  return In.expectBraces([this] {
    if (In.takeWord("times"))
      return In.expectBraces([this] { return time(); });
    if (In.takeWord("device"))
      return fields(S.Cost.Device);
    if (In.takeWord("link"))
      return link();
    Token Key;
    if (!In.expectToken(Token::Kind::Word,
                        "a key, `times`, `device`, `link` or `}`", Key))
      return false;
    std::optional<bool> Read = field(Key, S.Cost);
    return Read ? *Read : In.unknown(Key, "a key of `cost`", {});
  });
}

bool SpecParser::list(Attribute &A, unsigned Depth) {
  A.K = Attribute::Kind::List;
  if (In.takePunct("]"))
    return true;
  do {
    A.Elements.emplace_back();
    if (!value(A.Elements.back(), Depth + 1))
      return false;
  } while (In.takePunct(","));
  return In.expectPunct("]");
}

bool SpecParser::section(Attribute &A, unsigned Depth) {
  A.K = Attribute::Kind::Section;
  return In.expectBraces([&] {
    Token Name;
    A.Fields.emplace_back();
    NamedAttribute &F = A.Fields.back();
    if (!In.expectName("a key or `}`", Name) || !In.text(Name, F.Name))
      return false;
    F.NameRange = Name.Range;
    return In.expectPunct("=") && value(F.Value, Depth + 1);
  });
}

bool SpecParser::value(Attribute &A, unsigned Depth) {
  constexpr unsigned MaxDepth = 64;
  A.Range = In.peek().Range;
  if (Depth > MaxDepth) {
    In.Diags.report(A.Range, diag::IrTooDeep, MaxDepth);
    return false;
  }
  if (In.takePunct("["))
    return list(A, Depth);
  Token T = In.peek();
  switch (T.K) {
  case Token::Kind::Integer:
    A.K = Attribute::Kind::Int;
    return In.expectInteger(INT64_MIN, A.Integer);
  case Token::Kind::Real:
    A.K = Attribute::Kind::Real;
    return In.expectReal(A.Real);
  case Token::Kind::Word:
  case Token::Kind::String:
    In.next();
    if (!In.text(T, A.Text))
      return false;
    A.K =
        T.is(Token::Kind::Word) ? Attribute::Kind::Name : Attribute::Kind::Text;
    break;
  default:
    break;
  }
  if (In.peek().isPunct("{"))
    return section(A, Depth);
  if (T.isWord("true") || T.isWord("false")) {
    A.K = Attribute::Kind::Bool;
    A.Integer = T.isWord("true");
    A.Text.clear();
    return true;
  }
  return T.is(Token::Kind::Word) || T.is(Token::Kind::String) ||
         In.expected("a value");
}

bool SpecParser::emit() {
  Token Name;
  EmitSpec E;
  if (!In.expectName("the name of a backend", Name) ||
      !In.text(Name, E.Backend))
    return false;
  E.Range = Name.Range;
  Token Value = In.peek();
  if (!value(E.Options, 0))
    return false;
  if (E.Options.K != Attribute::Kind::Section) {
    In.Diags.report(Value.Range, diag::IrSyntax, "`{`", "another value");
    return false;
  }
  S.Emits.push_back(std::move(E));
  return true;
}

bool SpecParser::parse() {
  return In.expectBraces([this] {
    if (In.takeWord("model"))
      return model();
    if (In.takeWord("train"))
      return fields(S.Train);
    if (In.takeWord("parallel"))
      return In.expectBraces([this] { return parallelEntry(); });
    if (In.takeWord("cost"))
      return cost();
    if (In.takeWord("emit"))
      return emit();
    return In.expected("`model`, `train`, `parallel`, `cost`, `emit` or `}`");
  });
}

bool foretrace::ir::parseSpec(TextReader &In, Spec &Out) {
  return SpecParser(In, Out).parse();
}
