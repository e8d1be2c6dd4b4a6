// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/readers/PythonReader.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::importers {

namespace {

class PythonLexer {
public:
  explicit PythonLexer(StringRef All) : All(All) {}
  std::vector<PythonToken> run();

private:
  void add(PythonKind Is, size_t Begin, size_t End);
  void text(size_t Begin);
  void number();
  size_t endOf(size_t Begin, function_ref<bool(char)> IsIn) const;
  size_t skipBlanks(size_t At);

  StringRef All;
  std::vector<PythonToken> Tokens;
  size_t At = 0, LineStart = 0;
  int Depth = 0;
};

} // namespace

void PythonLexer::add(PythonKind Is, size_t Begin, size_t End) {
  const bool IsFirst =
      Tokens.empty() || Tokens.back().Is == PythonKind::NewLine;
  Tokens.push_back(
      {Is, All.slice(Begin, End), Begin, End, IsFirst ? At - LineStart : 0});
  At = End;
}

/// A text, whose quotes begin at \p Begin. Escapes stay as they are.
void PythonLexer::text(size_t Begin) {
  const StringRef Rest = All.substr(Begin);
  const bool IsLong = Rest.starts_with("\"\"\"") || Rest.starts_with("'''");
  const StringRef Quotes = Rest.take_front(IsLong ? 3 : 1);
  size_t End = Begin + Quotes.size();
  while (End < All.size() && !All.substr(End).starts_with(Quotes))
    End += All[End] == '\\' ? 2 : 1;
  End = std::min(End, All.size());
  add(PythonKind::Text, Begin + Quotes.size(), End);
  At = std::min(End + Quotes.size(), All.size());
}

size_t PythonLexer::endOf(size_t Begin, function_ref<bool(char)> IsIn) const {
  size_t End = Begin;
  while (End < All.size() && IsIn(All[End]))
    ++End;
  return End;
}

/// A number, whose exponent may have a sign.
void PythonLexer::number() {
  const auto IsPart = [](char C) { return isAlnum(C) || C == '.' || C == '_'; };
  size_t End = endOf(At, IsPart);
  if (toLower(All[End - 1]) == 'e' && End < All.size() &&
      (All[End] == '-' || All[End] == '+'))
    End = endOf(End + 1, isDigit);
  add(PythonKind::Number, At, End);
}

size_t PythonLexer::skipBlanks(size_t From) {
  while (From < All.size()) {
    if (All[From] == '#')
      From = std::min(All.find('\n', From), All.size());
    else if (All.substr(From).starts_with("\\\n"))
      From += 2;
    else if (All[From] == ' ' || All[From] == '\t' || All[From] == '\r')
      ++From;
    else
      break;
  }
  return From;
}

std::vector<PythonToken> PythonLexer::run() {
  while ((At = skipBlanks(At)) < All.size()) {
    const char C = All[At];
    if (C == '\n') {
      if (Depth == 0 && !Tokens.empty() &&
          Tokens.back().Is != PythonKind::NewLine)
        add(PythonKind::NewLine, At, At + 1);
      else
        ++At;
      LineStart = At;
    } else if (C == '"' || C == '\'') {
      text(At);
    } else if (isDigit(C)) {
      number();
    } else if (isAlpha(C) || C == '_') {
      add(PythonKind::Name, At,
          endOf(At, [](char D) { return isAlnum(D) || D == '_'; }));
    } else {
      if (StringRef("([{").contains(C))
        ++Depth;
      else if (StringRef(")]}").contains(C))
        --Depth;
      const bool IsTwo = All.substr(At, 2) == "//" ||
                         All.substr(At, 2) == "**" || All.substr(At, 2) == "==";
      add(PythonKind::Sign, At, At + (IsTwo ? 2 : 1));
    }
  }
  add(PythonKind::NewLine, All.size(), All.size());
  add(PythonKind::End, All.size(), All.size());
  return std::move(Tokens);
}

std::vector<PythonToken> splitPython(StringRef All) {
  return PythonLexer(All).run();
}

} // namespace foretrace::importers
