// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/shell/ShellSyntax.h"
#include "tools/importers/readers/ReadArguments.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace foretrace::importers::shell {

namespace {

/// Commands may be this deep in others.
constexpr unsigned MaxDepth = 64;

class Parser {
public:
  explicit Parser(StringRef Script) : Rest(Script) {}

  /// The whole script, without commands that are not understood.
  Commands all() {
    Commands Made = list({});
    while (!Rest.empty()) {
      Rest = Rest.drop_front();
      append_range(Made, list({}));
    }
    return Made;
  }
  /// Parses commands up to one of the words \p Ends, which is not consumed.
  Commands list(ArrayRef<StringRef> Ends);

private:
  bool takeWord(StringRef Word);
  bool isAt(ArrayRef<StringRef> Ends);
  StringRef peek() const { return Rest.take_front(rawLength(Rest)); }
  StringRef take() {
    const StringRef Word = peek();
    Rest = Rest.drop_front(Word.size());
    return Word;
  }
  /// Takes the body of a loop.
  void body(Command &Of, Commands Condition = {}) {
    takeWord("do");
    Of.Branches.push_back({std::move(Condition), list({"done"}), {}});
    takeWord("done");
  }
  void skipSeparators();
  Command command();
  Command simple();
  Command conditional();
  Command loop(bool IsUntil);
  Command forLoop();
  Command caseOf();
  Command test();
  Command function(StringRef Name);
  std::vector<StringRef> patterns();
  Command plain();
  bool assignment(Command &To);
  void redirection();
  void skipDocuments();

  StringRef Rest;
  std::vector<StringRef> Documents; ///< ends of here-documents of this line
  unsigned Depth = 0;
};

} // namespace

/// Skips the here-documents that the line had.
void Parser::skipDocuments() {
  for (StringRef End : Documents)
    while (!Rest.empty()) {
      const auto [Line, After] = Rest.split('\n');
      Rest = After;
      if (Line.trim() == End)
        break;
    }
  Documents.clear();
}

void Parser::skipSeparators() {
  while (true) {
    Rest = skipBlanks(Rest, false);
    if (Rest.consume_front("\n"))
      skipDocuments();
    else if (Rest.starts_with(";;") || !Rest.consume_front(";"))
      return;
  }
}

bool Parser::isAt(ArrayRef<StringRef> Ends) {
  return Rest.empty() || Rest.starts_with(")") || Rest.starts_with(";;") ||
         is_contained(Ends, peek());
}

bool Parser::takeWord(StringRef Word) {
  skipSeparators();
  return peek() == Word && Rest.consume_front(Word);
}

Commands Parser::list(ArrayRef<StringRef> Ends) {
  Commands All;
  ++Depth;
  Command::Link Link = Command::Link::Always;
  while (Depth < MaxDepth) {
    skipSeparators();
    if (isAt(Ends))
      break;
    const size_t Before = Rest.size();
    Command C = command();
    C.After = Link;
    All.push_back(std::move(C));
    Rest = skipBlanks(Rest, false);
    Link = Rest.consume_front("&&")   ? Command::Link::And
           : Rest.consume_front("||") ? Command::Link::Or
                                      : Command::Link::Always;
    if (Link == Command::Link::Always)
      while (Rest.consume_front("|") || Rest.consume_front("&"))
        ;
    else
      Rest = skipBlanks(Rest, true);
    if (Rest.size() == Before)
      Rest = Rest.drop_front(); // what is not understood
  }
  --Depth;
  return All;
}

Command Parser::conditional() {
  Command Made;
  Made.Is = Command::Kind::If;
  do {
    Branch B;
    B.Condition = list({"then"});
    takeWord("then");
    B.Body = list({"elif", "else", "fi"});
    Made.Branches.push_back(std::move(B));
  } while (takeWord("elif"));
  if (takeWord("else"))
    Made.Branches.push_back({{}, list({"fi"}), {}});
  takeWord("fi");
  return Made;
}

Command Parser::loop(bool IsUntil) {
  Command Made;
  Made.Is = Command::Kind::While;
  Made.IsNegated = IsUntil;
  body(Made, list({"do"}));
  return Made;
}

Command Parser::forLoop() {
  Command Made;
  Rest = skipBlanks(Rest, false);
  if (Rest.starts_with("((")) {
    Made.Is = Command::Kind::ForArithmetic;
    const size_t Length = bracketLength(Rest, '(', ')');
    SmallVector<StringRef, 3> Parts;
    Rest.slice(2, Length - 2).split(Parts, ';');
    Made.Words.assign(Parts.begin(), Parts.end());
    Made.Words.resize(3);
    Rest = Rest.drop_front(Length);
  } else {
    Made.Is = Command::Kind::For;
    Made.Words.push_back(take());
    Rest = skipBlanks(Rest, false);
    Rest.consume_front("in");
    for (Rest = skipBlanks(Rest, false); rawLength(Rest) != 0;
         Rest = skipBlanks(Rest, false))
      Made.Words.push_back(take());
  }
  body(Made);
  return Made;
}

/// The patterns of a branch and the bracket after them.
std::vector<StringRef> Parser::patterns() {
  std::vector<StringRef> Made;
  for (Rest = skipBlanks(Rest, true); !Rest.empty() && !Rest.consume_front(")");
       Rest = skipBlanks(Rest, true)) {
    const StringRef Word = peek();
    if (!Word.empty())
      Made.push_back(Word);
    // A pattern is followed by `|`; skips anything else.
    Rest = Rest.drop_front(std::max<size_t>(Word.size(), 1));
  }
  return Made;
}

Command Parser::caseOf() {
  Command Made;
  Made.Is = Command::Kind::Case;
  Rest = skipBlanks(Rest, true);
  Made.Words.push_back(take());
  takeWord("in");
  while (!takeWord("esac") && !Rest.empty()) {
    Branch B;
    Rest.consume_front("(");
    B.Patterns = patterns();
    B.Body = list({"esac"});
    Rest.consume_front(";;");
    Made.Branches.push_back(std::move(B));
  }
  return Made;
}

static bool isName(StringRef Text) {
  return !Text.empty() && !isDigit(Text.front()) &&
         all_of(Text, [](char C) { return isAlnum(C) || C == '_'; });
}

/// Parses an assignment, if there is one.
bool Parser::assignment(Command &To) {
  Assignment Made;
  Made.Name = Rest.take_while([](char C) { return isAlnum(C) || C == '_'; });
  StringRef After = Rest.drop_front(Made.Name.size());
  Made.IsAppended = After.consume_front("+");
  if (!isName(Made.Name) || !After.consume_front("="))
    return false;
  Rest = After;
  if (Rest.starts_with("(")) {
    // Comments may contain brackets, so words are read one by one.
    Made.IsArray = true;
    Rest = Rest.drop_front();
    for (Rest = skipBlanks(Rest, true); !Rest.empty() && !Rest.starts_with(")");
         Rest = skipBlanks(Rest, true)) {
      const size_t Length = std::max<size_t>(rawLength(Rest), 1);
      Made.Values.push_back(Rest.take_front(Length));
      Rest = Rest.drop_front(Length);
    }
    Rest.consume_front(")");
  } else {
    Made.Values.push_back(take());
  }
  To.Assignments.push_back(std::move(Made));
  return true;
}

/// Takes a redirection, and notes the end of a here-document.
void Parser::redirection() {
  const bool IsString = Rest.starts_with("<<<");
  const bool IsDocument = !IsString && Rest.consume_front("<<");
  Rest = Rest.ltrim("<>&|");
  if (IsDocument)
    Rest.consume_front("-");
  Rest = skipBlanks(Rest, false);
  const StringRef Target = take();
  if (IsDocument)
    Documents.push_back(Target.trim("'\"\\"));
}

Command Parser::simple() {
  Command Made;
  while (!Rest.empty()) {
    Rest = skipBlanks(Rest, false);
    const bool IsDeclaration =
        !Made.Words.empty() &&
        StringSwitch<bool>(Made.Words.front())
            .Cases("export", "local", "declare", "readonly", "typeset", true)
            .Default(false);
    if ((Made.Words.empty() || IsDeclaration) && assignment(Made))
      continue;
    if (placeholderLength(Rest) == 0 &&
        (Rest.starts_with("<") || Rest.starts_with(">") ||
         Rest.starts_with("&>"))) {
      redirection();
      continue;
    }
    const StringRef Word = take();
    if (Word.empty())
      break;
    if (isDigit(Word.front()) && Word.size() == 1 &&
        (Rest.starts_with(">") || Rest.starts_with("<")))
      continue; // the number of a redirection
    Made.Words.push_back(Word);
  }
  return Made;
}

/// `[[ condition ]]`, which is not closed but by a word.
Command Parser::test() {
  Command Made;
  Made.Is = Command::Kind::Test;
  Rest = Rest.drop_front(2);
  const StringRef Begin = Rest;
  StringRef Word;
  do {
    Rest = skipBlanks(Rest, true);
    Word = Rest.take_front(std::max<size_t>(rawLength(Rest), 1));
    Rest = Rest.drop_front(Word.size());
  } while (!Word.empty() && Word != "]]");
  Made.Words.push_back(Begin.drop_back(Rest.size() + Word.size()));
  return Made;
}

/// The body of a function, after its name and `()`.
Command Parser::function(StringRef Name) {
  Command Made;
  Made.Is = Command::Kind::Function;
  Made.Words = {Name};
  Branch B;
  Rest = skipBlanks(Rest, true);
  if (++Depth < MaxDepth)
    B.Body.push_back(command());
  --Depth;
  Made.Branches.push_back(std::move(B));
  return Made;
}

Command Parser::command() {
  bool IsNegated = false;
  while (takeWord("!"))
    IsNegated = !IsNegated;
  Command Made = plain();
  Made.IsNegated = Made.IsNegated != IsNegated;
  return Made;
}

/// A command without `!`.
Command Parser::plain() {
  if (takeWord("if"))
    return conditional();
  if (takeWord("while"))
    return loop(false);
  if (takeWord("until"))
    return loop(true);
  if (takeWord("for"))
    return forLoop();
  if (takeWord("case"))
    return caseOf();
  takeWord("function");
  Rest = skipBlanks(Rest, false);
  Command Made;
  if (Rest.starts_with("((")) {
    Made.Is = Command::Kind::Arithmetic;
    const size_t Length = bracketLength(Rest, '(', ')');
    Made.Words.push_back(Rest.slice(2, Length - 2));
    Rest = Rest.drop_front(Length);
    return Made;
  }
  if (peek() == "[[")
    return test();
  const bool IsSubshell = Rest.starts_with("(");
  if (IsSubshell || peek() == "{") {
    Rest = Rest.drop_front();
    Made.Is = Command::Kind::Group;
    Made.IsSubshell = IsSubshell;
    Made.Branches.push_back({{}, list({"}"}), {}});
    Rest = Rest.drop_front(Rest.empty() ? 0 : 1);
    return Made;
  }
  const StringRef Word = peek();
  StringRef After = Rest.drop_front(Word.size()).ltrim(" ");
  if (isName(Word) && After.consume_front("()")) {
    Rest = After;
    return function(Word);
  }
  return simple();
}

Commands parse(StringRef Script) { return Parser(Script).all(); }

} // namespace foretrace::importers::shell
