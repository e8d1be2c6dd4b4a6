// SPDX-License-Identifier: Apache-2.0
//
// The parser of the `spec { ... }` section, which three files implement:
// ParseSpec.cpp the model and how it is spread, ParseHardware.cpp costs and the
// cluster, ParseEmit.cpp values of options. Private to the IR.
#pragma once

#include "ir/model/SpecFields.h"
#include "ir/text/TextReader.h"

namespace foretrace::ir {

class SpecParser {
public:
  SpecParser(TextReader &In, Spec &S) : In(In), S(S) {}

  bool parse();

private:
  // Entries that are allowed only once take their keyword.
  bool model(const Token &Word);
  bool modelEntry();
  bool pattern(std::vector<LayerRun> &Out, SourceRange &At);
  const BlockSpec *findBlock(const Token &Name);
  bool names(std::vector<std::string> &Out);
  bool layers(const Token &Word);
  bool branch(const Token &Word);
  bool layerKey(LayerKey &Key);
  bool layerUse(LayerUse &Out);
  bool block();
  bool parallelEntry();
  bool serve();
  bool dim();
  bool layout(const Token &Word);
  bool steps(const Token &Word);
  bool stageSteps();
  bool cost();
  bool time();
  bool kernel();
  bool link();
  bool cluster();
  bool tier();
  bool emit();

  bool value(int64_t &V, llvm::StringRef Type) {
    return In.expectInteger(Type == "Natural" || Type == "Duration" ? 0 : 1, V);
  }
  bool value(bool &V, llvm::StringRef) {
    V = In.peek().isWord("true");
    return In.takeWord("true") || In.takeWord("false") ||
           In.expected("`true` or `false`");
  }
  bool value(std::string &V, llvm::StringRef Type) {
    Token T;
    if (Type == "Word")
      return In.expectName("a value of this key", T) && In.text(T, V);
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
  template <typename T> bool fieldValue(Located<T> &F, llvm::StringRef Type);
  /// Reads one `key = value` of a struct; nothing if it has no such key.
  template <typename SpecT>
  std::optional<bool> fieldOf(const Token &Key, SpecT &Out);
  /// Reads all of a section that holds nothing but fields.
  template <typename SpecT> bool fields(SpecT &Out);
  /// Reads one `key = value` of the section \p Keyword, whose other entries
  /// were none of \p Others.
  template <typename SpecT>
  bool entry(llvm::StringRef Keyword, llvm::StringRef Others, SpecT &Out);

  TextReader &In;
  Spec &S;
};

// Definitions of the templates above.

template <typename T>
bool SpecParser::field(const Token &Key, Located<T> &F, llvm::StringRef Type) {
  if (F.isPresent())
    return In.twice(Key, "key", F.Range);
  return In.expectPunct("=") && fieldValue(F, Type);
}

template <typename T>
bool SpecParser::fieldValue(Located<T> &F, llvm::StringRef Type) {
  using Status = typename Located<T>::Status;
  F.Range = In.peek().Range;
  if (!value(F.Value, Type))
    return false;
  F.From = In.takeWord("default")   ? Status::Default
           : In.takeWord("derived") ? Status::Derived
                                    : Status::Stated;
  return true;
}

template <typename SpecT>
std::optional<bool> SpecParser::fieldOf(const Token &Key, SpecT &Out) {
  std::optional<bool> Read;
  visitFields(Out, [&](const FieldRow &Row, auto &F) {
    if (Key.isWord(Row.Name))
      Read = field(Key, F, Row.Type);
  });
  return Read;
}

template <typename SpecT> bool SpecParser::fields(SpecT &Out) {
  SourceRange Open = In.peek().Range;
  bool Ok = In.expectBraces([&] {
    Token Key;
    if (!In.expectToken(Token::Kind::Word, "a key or `}`", Key))
      return false;
    std::optional<bool> Read = fieldOf(Key, Out);
    return Read ? *Read : In.unknown(Key, "a key of this section", {});
  });
  if constexpr (std::is_same_v<SpecT, LinkSpec>)
    Out.Range = Open;
  return Ok;
}

template <typename SpecT>
bool SpecParser::entry(llvm::StringRef Keyword, llvm::StringRef Others,
                       SpecT &Out) {
  Token Key;
  if (!In.expectToken(Token::Kind::Word, ("a key, " + Others + " or `}`").str(),
                      Key))
    return false;
  std::optional<bool> Read = fieldOf(Key, Out);
  return Read ? *Read
              : In.unknown(Key, ("a key of `" + Keyword + "`").str(), {});
}

} // namespace foretrace::ir
