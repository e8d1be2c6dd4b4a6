// SPDX-License-Identifier: Apache-2.0
//
// TOML to the same AST as `.fore`, by toml++. Its exceptions end here.
#include "frontend/Parse.h"
#include "lang/diagnostics/Frontend.h"
#include "llvm/ADT/STLExtras.h"
// Some of its assertions fail on malformed keys, which it reports.
#define TOML_ASSERT(CONDITION) static_cast<void>(0)
#include <toml++/toml.h>

using namespace llvm;

namespace foretrace {

namespace {

/// Finds bytes from toml++'s lines and columns, which count code points.
class LineMap {
public:
  explicit LineMap(SourceText Text) : Text(Text), Lines(1) {
    const StringRef Bytes = Text.str();
    for (size_t I = 0; I < Bytes.size(); ++I) {
      if ((Bytes[I] & 0xc0) == 0x80) // goes on with a code point
        continue;
      Points.push_back(static_cast<uint32_t>(I));
      if (Bytes[I] == '\n')
        Lines.push_back(Points.size());
    }
  }

  SourceRange locate(const toml::source_region &R) const {
    return Text.range(offsetOf(R.begin), offsetOf(R.end));
  }
  StringRef slice(SourceRange R) const { return Text.slice(R); }

private:
  size_t offsetOf(toml::source_position P) const {
    if (!P || P.line > Lines.size())
      return Text.str().size();
    const size_t Point = Lines[P.line - 1] + P.column - 1;
    return Point < Points.size() ? Points[Point] : Text.str().size();
  }

  SourceText Text;
  std::vector<uint32_t> Points; ///< where each begins
  std::vector<size_t> Lines;    ///< the first point of each
};

class TomlBuilder {
public:
  TomlBuilder(SourceText Text, DiagnosticEngine &Diags)
      : Lines(Text), Diags(Diags) {}

  std::vector<ast::Entry> entries(const toml::table &Table);
  SourceRange locate(const toml::source_region &R) const {
    return Lines.locate(R);
  }

private:
  ast::ExprPtr expr(const toml::node &N);
  ast::ExprPtr number(SourceRange Range, const toml::value<int64_t> *Integer);
  ast::ExprPtr list(SourceRange Range, const toml::array &Array);
  ast::ExprPtr refuse(SourceRange Range, StringRef What) {
    Diags.report(Range, diag::TomlValue, What);
    return nullptr;
  }

  LineMap Lines;
  DiagnosticEngine &Diags;
};

} // namespace

static ast::ExprPtr makeExpr(SourceRange Range, decltype(ast::Expr::Node) N) {
  return std::make_unique<ast::Expr>(ast::Expr{Range, std::move(N)});
}

/// Keeps the digits as written; only hexadecimal and the like are converted.
ast::ExprPtr TomlBuilder::number(SourceRange Range,
                                 const toml::value<int64_t> *Integer) {
  StringRef Written = Lines.slice(Range);
  bool IsNegative = Written.consume_front("-");
  Written.consume_front("+");
  if (Written == "inf" || Written == "nan")
    return refuse(Range, "an infinite number or NaN");
  ast::Number Out{Written.str(), !Integer, {}, {}};
  llvm::erase(Out.Digits, '_');
  if (Integer && Written.size() > 1 && Written[0] == '0')
    Out.Digits = std::to_string(Integer->get());
  ast::ExprPtr Value = makeExpr(Range, std::move(Out));
  return IsNegative ? makeExpr(Range, ast::Unary{ast::UnaryOp::Negate,
                                                 std::move(Value)})
                    : std::move(Value);
}

ast::ExprPtr TomlBuilder::list(SourceRange Range, const toml::array &Array) {
  ast::List Out;
  for (const toml::node &Element : Array)
    if (ast::ExprPtr E = expr(Element))
      Out.Elements.push_back(std::move(E));
  return makeExpr(Range, std::move(Out));
}

ast::ExprPtr TomlBuilder::expr(const toml::node &N) {
  SourceRange Range = locate(N.source());
  switch (N.type()) {
  case toml::node_type::string:
    return makeExpr(Range, ast::String{N.as_string()->get()});
  case toml::node_type::integer:
    return number(Range, N.as_integer());
  case toml::node_type::floating_point:
    return number(Range, nullptr);
  case toml::node_type::boolean:
    return makeExpr(Range, ast::Boolean{N.as_boolean()->get()});
  case toml::node_type::array:
    return list(Range, *N.as_array());
  case toml::node_type::table:
    return refuse(Range, "a table in an array");
  case toml::node_type::date:
  case toml::node_type::time:
  case toml::node_type::date_time:
    return refuse(Range, "a date or time");
  case toml::node_type::none:
    break;
  }
  llvm_unreachable("a parsed node has a type");
}

std::vector<ast::Entry> TomlBuilder::entries(const toml::table &Table) {
  std::vector<ast::Entry> Out;
  for (const auto &[Key, Node] : Table) {
    ast::Word Name{std::string(Key.str()), locate(Key.source())};
    if (const toml::table *Inner = Node.as_table()) {
      SourceRange Range = Name.Range.to(locate(Inner->source()));
      ast::Section S{Name, {}, {}, entries(*Inner), Range};
      Out.push_back({std::move(S), Range});
    } else if (ast::ExprPtr Value = expr(Node)) {
      SourceRange Range = Name.Range.to(Value->Range);
      Out.push_back({ast::Assignment{Name, std::move(Value)}, Range});
    }
  }
  // toml++ sorts by name.
  llvm::sort(Out, [](const ast::Entry &A, const ast::Entry &B) {
    return A.Range.start() < B.Range.start();
  });
  return Out;
}

/// The end of the string or comment that begins at \p At, or \p At itself.
static const char *skipText(const char *At, const char *End) {
  StringRef Rest(At, End - At);
  if (Rest.starts_with("#"))
    return At + std::min(Rest.find('\n'), Rest.size());
  if (Rest.starts_with("\"\"\"") || Rest.starts_with("'''"))
    return At + std::min(Rest.find(Rest.take_front(3), 3), Rest.size() - 3) + 3;
  if (*At != '"' && *At != '\'')
    return At;
  for (const char *I = At + 1; I != End && *I != '\n'; ++I)
    if (*I == *At)
      return I + 1;
    else if (*I == '\\' && *At == '"' && I + 1 != End)
      ++I;
  return At;
}

/// Returns where brackets and dotted keys first nest too deep, or null.
static const char *findTooDeep(StringRef Text) {
  // Dots since the last bracket or separator, of each open bracket.
  SmallVector<unsigned, 16> Dots{0};
  unsigned Total = 0;
  auto Clear = [&] { Total -= std::exchange(Dots.back(), 0); };
  for (const char *At = Text.begin(); At != Text.end(); ++At) {
    const char *After = skipText(At, Text.end());
    if (After == Text.end())
      return nullptr;
    At = After;
    switch (*At) {
    case '.':
      ++Dots.back();
      ++Total;
      break;
    case '[':
    case '{':
      Dots.push_back(0);
      break;
    case ']':
    case '}':
      Clear();
      if (Dots.size() > 1)
        Dots.pop_back();
      break;
    case ',':
    case '\n':
      Clear();
    }
    if (Dots.size() + Total > MaxNesting)
      return At;
  }
  return nullptr;
}

std::optional<ast::Section> parseToml(SourceText Text,
                                      DiagnosticEngine &Diags) {
  if (!checkText(Text, Diags))
    return std::nullopt;
  if (const char *At = findTooDeep(Text.str())) {
    Diags.report(Text.rangeOf({At, 1}), diag::NestingTooDeep, MaxNesting);
    return std::nullopt;
  }
  TomlBuilder Builder(Text, Diags);
  try {
    unsigned ErrorsBefore = Diags.errorCount();
    toml::table Table = toml::parse(std::string_view(Text.str()));
    ast::Section Out;
    Out.Entries = Builder.entries(Table);
    Out.Range = Text.range();
    if (Diags.errorCount() == ErrorsBefore)
      return Out;
  } catch (const toml::parse_error &E) {
    Diags.report(Builder.locate(E.source()), diag::TomlSyntax,
                 StringRef(E.description().data(), E.description().size()));
  }
  return std::nullopt;
}

} // namespace foretrace
