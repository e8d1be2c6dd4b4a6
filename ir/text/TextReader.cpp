// SPDX-License-Identifier: Apache-2.0
#include "ir/text/TextReader.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/IR.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"

using namespace foretrace;
using namespace foretrace::ir;

std::string TextReader::describe(const Token &T) const {
  switch (T.K) {
  case Token::Kind::End:
    return "the end of the file";
  case Token::Kind::Bad:
    if (T.Text == "\"")
      return "a string without end";
    if (!llvm::isPrint(T.Text[0]))
      return "the byte 0x" +
             llvm::utohexstr(static_cast<unsigned char>(T.Text[0]));
    break;
  case Token::Kind::String:
    return "a string";
  default:
    break;
  }
  constexpr size_t MaxShown = 40;
  const llvm::StringRef Shown = Source.slice(T.Range);
  if (Shown.size() > MaxShown || !llvm::all_of(Shown, llvm::isPrint))
    return "a long or unprintable name";
  return ("`" + Shown + "`").str();
}

Token TextReader::next() {
  Token T = Current;
  Last = T.Range;
  Current = Lex.next();
  return T;
}

bool TextReader::takePunct(llvm::StringRef P) {
  bool Is = Current.isPunct(P);
  if (Is)
    next();
  return Is;
}

bool TextReader::takeWord(llvm::StringRef W) {
  bool Is = Current.isWord(W);
  if (Is)
    next();
  return Is;
}

bool TextReader::expected(const llvm::Twine &What) {
  Diags.report(Current.Range, diag::IrSyntax, What.str(), describe(Current));
  return false;
}

bool TextReader::expectPunct(llvm::StringRef P) {
  return takePunct(P) || expected("`" + P + "`");
}

bool TextReader::expectWord(llvm::StringRef W) {
  return takeWord(W) || expected("`" + W + "`");
}

bool TextReader::expectToken(Token::Kind K, llvm::StringRef What, Token &Out) {
  if (!Current.is(K))
    return expected(What);
  Out = next();
  return true;
}

bool TextReader::expectName(llvm::StringRef What, Token &Out) {
  if (!Current.is(Token::Kind::Word) && !Current.is(Token::Kind::String))
    return expected(What);
  Out = next();
  return true;
}

bool TextReader::expectInteger(int64_t Least, int64_t &Out) {
  Token T;
  if (!expectToken(Token::Kind::Integer, "an integer", T))
    return false;
  if (T.Text.getAsInteger(10, Out)) {
    Diags.report(T.Range, diag::IrNumber, "this number", "is beyond 2^63");
    return false;
  }
  if (Out >= Least)
    return true;
  Diags.report(T.Range, diag::IrNumber, Out,
               "is too small; the least is " + llvm::itostr(Least));
  return false;
}

bool TextReader::expectReal(double &Out, double Most) {
  if (!Current.is(Token::Kind::Real) && !Current.is(Token::Kind::Integer))
    return expected("a number");
  Token T = next();
  if (!T.Text.getAsDouble(Out, /*AllowInexact=*/true) && Out <= Most)
    return true;
  Diags.report(T.Range, diag::IrNumber, "this number",
               llvm::formatv("is beyond {0:e2}", Most).str());
  return false;
}

bool TextReader::expectStages(int64_t &First, int64_t &Count) {
  SourceRange Range = Current.Range;
  if (!expectInteger(0, First))
    return false;
  int64_t Last = First;
  if (takePunct("..")) {
    Range = Current.Range;
    if (!expectInteger(First, Last))
      return false;
  }
  if (Last == INT64_MAX) {
    Diags.report(Range, diag::IrNumber, "this number", "is beyond 2^63");
    return false;
  }
  Count = Last - First + 1;
  return true;
}

bool TextReader::text(const Token &T, std::string &Out) {
  assert(Out.empty() && "a name is read once");
  for (size_t I = 0; I < T.Text.size(); ++I) {
    char C = T.Text[I];
    if (C != '\\') {
      Out += C;
      continue;
    }
    llvm::StringRef Escape = T.Text.substr(I + 1);
    unsigned Code;
    if (Escape.starts_with("x") && Escape.size() > 2 &&
        !Escape.substr(1, 2).getAsInteger(16, Code)) {
      Out += static_cast<char>(Code);
      I += 3;
    } else if (Escape.starts_with("\\") || Escape.starts_with("\"")) {
      Out += Escape[0];
      I += 1;
    } else {
      Diags.report(T.Range, diag::IrSyntax,
                   "one of the escapes `\\\\`, `\\\"` and `\\xHH`",
                   "another one");
      return false;
    }
  }
  return true;
}

bool TextReader::expectAxes(AxisList &Out) {
  do {
    Token T = Current;
    Axis A{};
    if (!expectSpelling("an axis", A))
      return false;
    if (llvm::is_contained(Out, A))
      return twice(T, "axis");
    Out.push_back(A);
  } while (takePunct(","));
  llvm::sort(Out);
  return true;
}

bool TextReader::expectGroup(Group &Out) {
  if (!expectAxes(Out.Axes))
    return false;
  if (auto Members = findSpelling<GroupMembers>(Current.Text)) {
    Out.Members = *Members;
    next();
  }
  return true;
}

/// `a`, or `a + 3 * b)` after the opening parenthesis.
bool TextReader::expectRuns(llvm::SmallVectorImpl<NamedRun> &Runs) {
  do {
    NamedRun R;
    if (Current.is(Token::Kind::Integer) &&
        (!expectInteger(1, R.Count) || !expectPunct("*")))
      return false;
    if (!expectName("the name of a block", R.Name))
      return false;
    Runs.push_back(R);
  } while (takePunct("+"));
  return expectPunct(")");
}

bool TextReader::expectSequence(
    llvm::function_ref<bool(int64_t, llvm::ArrayRef<NamedRun>)> AddGroup) {
  SourceRange Start = Current.Range;
  Quantity<struct LayerUnit> Total;
  bool IsFirst = true;
  do {
    int64_t Count = 1;
    if (Current.is(Token::Kind::Integer) &&
        (!expectInteger(1, Count) || !expectPunct("*")))
      return false;
    llvm::SmallVector<NamedRun, 4> Runs;
    int64_t Periods = 1;
    if (takePunct("(")) {
      if (IsFirst && Count == 1 && takePunct(")"))
        return true;
      Periods = Count;
      if (!expectRuns(Runs))
        return false;
    } else {
      Runs.push_back({{}, Count});
      if (!expectName("the name of a block or `(`", Runs[0].Name))
        return false;
    }
    for (const NamedRun &R : Runs)
      Total += Quantity<LayerUnit>(Periods) * R.Count;
    if (!AddGroup(Periods, Runs))
      return false;
    IsFirst = false;
  } while (takePunct("+"));
  if (Total.isOverflow())
    Diags.report(Start, diag::IrNumber, "the number of layers",
                 "is beyond 2^63");
  return !Total.isOverflow();
}

bool TextReader::expectBraces(llvm::function_ref<bool()> Entry) {
  if (!expectPunct("{"))
    return false;
  while (!takePunct("}"))
    if (!Entry())
      return false;
  return true;
}

bool TextReader::unknown(const Token &T, llvm::StringRef What,
                         llvm::ArrayRef<llvm::StringRef> Known) {
  suggest(Diags.report(T.Range, diag::IrUnknownName, describe(T), What),
          T.Range, T.Text, Known);
  return false;
}

bool TextReader::twice(const Token &T, llvm::StringRef What,
                       SourceRange First) {
  DiagnosticBuilder B =
      Diags.report(T.Range, diag::IrRedefinition, What, describe(T));
  if (First.isValid())
    B.note(First, diag::DeclaredHere, T.Text);
  return false;
}
