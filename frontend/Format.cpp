// SPDX-License-Identifier: Apache-2.0
#include "frontend/BuildAST.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using antlr4::ParserRuleContext;
using antlr4::tree::ParseTree;
using antlr4::tree::TerminalNode;
using foretrace::grammar::ForeParser;

namespace foretrace {

namespace {

constexpr size_t LineLength = 100;
constexpr StringLiteral BetweenEntries = "   ";

/// A token and the text around it.
struct Leaf {
  StringRef Text;
  size_t Begin = 0, End = 0; ///< bytes of the source
  unsigned Depth = 0;        ///< blocks around it
  bool StartsItem = false, StartsEntry = false;
  bool OpensBlock = false, ClosesBlock = false;
  bool ClosesBracket = false;
  bool TakesNoSpaceBefore = false, TakesNoSpaceAfter = false;
  size_t Close = 0; ///< of a block that it opens: the leaf that closes it
};

/// The blanks and comments between two tokens.
struct Gap {
  struct Comment {
    StringRef Text;
    bool IsOnOwnLine, HasBlankLineBefore;
  };
  SmallVector<Comment, 1> Comments;
  bool HasLineEnd = false;   ///< after the last comment
  bool HasBlankLine = false; ///< the same
};

class Formatter {
public:
  Formatter(SourceText Source) : Source(Source) {}
  std::string run(ForeParser::FileContext &Tree);

private:
  void collect(ParseTree &Tree, unsigned Depth);
  void mark(ParserRuleContext &Rule, size_t First);
  Gap gapBefore(size_t I) const;
  bool isMultiLine(size_t Open) const;
  size_t widthUntil(size_t From, size_t To) const;
  size_t endOfEntry(size_t I) const;
  StringRef spaceBefore(size_t I) const;
  bool breaksBefore(size_t I, const Gap &G) const;
  void writeComments(size_t I, const Gap &G);
  void write(size_t I);
  void newLine(unsigned Indent, bool HasBlankLine);
  size_t column() const { return Out.size() - LineStart; }

  SourceText Source;
  std::vector<Leaf> Leaves;
  std::vector<size_t> OpenBlocks; ///< leaves, the innermost last
  std::vector<bool> AreMultiLine; ///< of the same blocks
  std::string Out;
  size_t LineStart = 0;
};

} // namespace

/// Marks the first leaf of a rule, and its brackets and signs.
void Formatter::mark(ParserRuleContext &Rule, size_t First) {
  Leaf &Start = Leaves[First], &Last = Leaves.back();
  switch (Rule.getRuleIndex()) {
  case ForeParser::RuleItem:
    Start.StartsItem = Start.StartsEntry = true;
    break;
  case ForeParser::RuleEntry:
  case ForeParser::RuleStatement:
    Start.StartsEntry = true;
    break;
  case ForeParser::RuleBlock:
  case ForeParser::RuleBody:
    Start.OpensBlock = Last.ClosesBlock = true;
    Start.Close = Leaves.size() - 1;
    --Start.Depth;
    --Last.Depth;
    break;
  default:
    break;
  }
}

/// Returns whether `(` follows a name that is called.
static bool isCall(const ParserRuleContext &Rule) {
  return dynamic_cast<const ForeParser::CallContext *>(&Rule) ||
         Rule.getRuleIndex() == ForeParser::RuleInvocation ||
         Rule.getRuleIndex() == ForeParser::RuleLayer;
}

/// The spaces that a token of \p Rule has around it.
static void markSpaces(Leaf &L, const ParserRuleContext &Rule) {
  const size_t Index = Rule.getRuleIndex();
  const bool IsBlock =
      Index == ForeParser::RuleBlock || Index == ForeParser::RuleBody;
  const StringRef T = L.Text;
  L.TakesNoSpaceBefore = T == "," || T == "." || T == ".." || T == ")" ||
                         T == "]" || (T == "}" && !IsBlock) ||
                         (T == "(" && isCall(Rule)) ||
                         (T == "-" && Index == ForeParser::RuleLabel);
  L.TakesNoSpaceAfter =
      T == "(" || T == "[" || T == "." || (T == "{" && !IsBlock) ||
      (T == ".." && Index != ForeParser::RuleKeyValues) ||
      (T == "-" && (Index == ForeParser::RuleLabel ||
                    dynamic_cast<const ForeParser::NegateContext *>(&Rule)));
  L.ClosesBracket = T == ")" || T == "]" || (T == "}" && !IsBlock);
}

void Formatter::collect(ParseTree &Tree, unsigned Depth) {
  if (auto *Token = dynamic_cast<TerminalNode *>(&Tree)) {
    if (Token->getSymbol()->getType() == antlr4::Token::EOF)
      return;
    Leaf L;
    L.Begin = Token->getSymbol()->getStartIndex();
    L.End = Token->getSymbol()->getStopIndex() + 1;
    L.Text = Source.str().slice(L.Begin, L.End);
    L.Depth = Depth;
    markSpaces(L, *dynamic_cast<ParserRuleContext *>(Token->parent));
    Leaves.push_back(L);
    return;
  }
  auto &Rule = dynamic_cast<ParserRuleContext &>(Tree);
  const bool IsBlock = Rule.getRuleIndex() == ForeParser::RuleBlock ||
                       Rule.getRuleIndex() == ForeParser::RuleBody;
  const size_t First = Leaves.size();
  for (ParseTree *Child : Rule.children)
    collect(*Child, Depth + IsBlock);
  if (Leaves.size() != First)
    mark(Rule, First);
}

Gap Formatter::gapBefore(size_t I) const {
  const size_t From = I == 0 ? 0 : Leaves[I - 1].End;
  const size_t To = I == Leaves.size() ? Source.str().size() : Leaves[I].Begin;
  Gap G;
  size_t LineEnds = I == 0; // the start of a file is that of a line
  StringRef Left = Source.str().slice(From, To);
  Left.consume_front("\xef\xbb\xbf");
  while (!Left.empty()) {
    if (Left.starts_with("//")) {
      const StringRef Text = Left.take_until([](char C) { return C == '\n'; });
      G.Comments.push_back({Text.rtrim(), LineEnds > 0, LineEnds > 1});
      Left = Left.drop_front(Text.size());
      LineEnds = 0;
      continue;
    }
    LineEnds += Left.front() == '\n';
    Left = Left.drop_front();
  }
  G.HasLineEnd = LineEnds > 0;
  G.HasBlankLine = LineEnds > 1;
  return G;
}

/// Returns whether the author broke the block that opens at \p Open.
bool Formatter::isMultiLine(size_t Open) const {
  const StringRef Within =
      Source.str().slice(Leaves[Open].End, Leaves[Leaves[Open].Close].Begin);
  return Within.contains('\n');
}

StringRef Formatter::spaceBefore(size_t I) const {
  const Leaf &L = Leaves[I], &Before = Leaves[I - 1];
  if (L.TakesNoSpaceBefore || Before.TakesNoSpaceAfter)
    return "";
  return L.StartsEntry && !Before.OpensBlock ? BetweenEntries : " ";
}

/// The columns of the leaves \p From to before \p To on one line.
size_t Formatter::widthUntil(size_t From, size_t To) const {
  size_t Width = 0;
  for (size_t I = From; I != To && Width <= LineLength; ++I)
    Width += Leaves[I].Text.size() + (I == From ? 0 : spaceBefore(I).size());
  return Width;
}

/// The leaf after the entry that starts at \p I, or that ends its first line:
/// after a `{` whose block is broken.
size_t Formatter::endOfEntry(size_t I) const {
  size_t At = I;
  do {
    if (Leaves[At].OpensBlock) {
      if (isMultiLine(At))
        return At + 1;
      At = Leaves[At].Close;
    }
    ++At;
  } while (At != Leaves.size() && !Leaves[At].StartsEntry &&
           !Leaves[At].ClosesBlock && !gapBefore(At).HasLineEnd);
  return At;
}

bool Formatter::breaksBefore(size_t I, const Gap &G) const {
  const Leaf &L = Leaves[I], &Before = Leaves[I - 1];
  if (!G.Comments.empty() || L.StartsItem)
    return true;
  if (L.ClosesBlock || Before.OpensBlock)
    return L.ClosesBlock && Before.OpensBlock ? false : AreMultiLine.back();
  if (L.OpensBlock || L.Text == "else" || !L.StartsEntry)
    return G.HasLineEnd && !L.OpensBlock &&
           !(L.Text == "else" && Before.ClosesBlock);
  // Groups that do not fit are broken to the width of a line.
  return G.HasLineEnd ||
         (AreMultiLine.back() &&
          column() + BetweenEntries.size() + widthUntil(I, endOfEntry(I)) >
              LineLength);
}

void Formatter::newLine(unsigned Indent, bool HasBlankLine) {
  if (Out.empty())
    return;
  Out += HasBlankLine ? "\n\n" : "\n";
  LineStart = Out.size();
  Out.append(Indent, ' ');
}

void Formatter::writeComments(size_t I, const Gap &G) {
  const bool IsInBlock = I != Leaves.size() && Leaves[I].ClosesBlock;
  const unsigned Depth = I == Leaves.size() ? 0 : Leaves[I].Depth + IsInBlock;
  const bool IsWithin =
      I != Leaves.size() && !Leaves[I].StartsEntry && !Leaves[I].ClosesBlock;
  for (const Gap::Comment &C : G.Comments) {
    const bool IsFirst =
        I != 0 && Leaves[I - 1].OpensBlock && &C == G.Comments.begin();
    if (C.IsOnOwnLine || Out.empty())
      newLine(2 * (Depth + IsWithin), C.HasBlankLineBefore && !IsFirst);
    else
      Out += "  ";
    Out += C.Text;
  }
}

void Formatter::write(size_t I) {
  const Leaf &L = Leaves[I];
  const Gap G = gapBefore(I);
  writeComments(I, G);
  if (I != 0 || !G.Comments.empty()) {
    if (I == 0 || breaksBefore(I, G)) {
      const bool IsContinued =
          !L.StartsEntry && !L.ClosesBlock && !L.ClosesBracket;
      const bool IsAtEdge =
          L.ClosesBlock ||
          (I != 0 && Leaves[I - 1].OpensBlock && G.Comments.empty());
      newLine(2 * (L.Depth + IsContinued), G.HasBlankLine && !IsAtEdge);
    } else {
      Out += spaceBefore(I);
    }
  }
  Out += L.Text;
  if (L.OpensBlock) {
    OpenBlocks.push_back(I);
    AreMultiLine.push_back(isMultiLine(I) ||
                           column() + 1 + widthUntil(I + 1, L.Close + 1) >
                               LineLength);
  } else if (L.ClosesBlock) {
    OpenBlocks.pop_back();
    AreMultiLine.pop_back();
  }
}

std::string Formatter::run(ForeParser::FileContext &Tree) {
  collect(Tree, 0);
  for (size_t I = 0; I != Leaves.size(); ++I)
    write(I);
  writeComments(Leaves.size(), gapBefore(Leaves.size()));
  if (!Out.empty())
    Out += '\n';
  return std::move(Out);
}

std::string formatFile(ForeParser::FileContext &Tree, SourceText Text,
                       DiagnosticEngine &) {
  return Formatter(Text).run(Tree);
}

} // namespace foretrace
