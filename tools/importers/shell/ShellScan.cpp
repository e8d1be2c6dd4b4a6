// SPDX-License-Identifier: Apache-2.0
#include "tools/importers/readers/ReadArguments.h"
#include "tools/importers/shell/ShellSyntax.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::importers::shell {

size_t bracketLength(StringRef Text, char Open, char Close) {
  size_t Depth = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    const char C = Text[I];
    if (C == '\\') {
      ++I;
    } else if (C == '\'' || C == '"') {
      // A quote without an end is part of a comment.
      if (const size_t End = Text.find(C, I + 1); End != StringRef::npos)
        I = End;
    } else if (C == Open) {
      ++Depth;
    } else if (C == Close && --Depth == 0) {
      return I + 1;
    }
  }
  return Text.size();
}

size_t closingQuote(StringRef Text) {
  for (size_t I = 1; I < Text.size(); ++I) {
    const StringRef Rest = Text.drop_front(I);
    if (Rest.starts_with("\\"))
      ++I;
    else if (Rest.starts_with("$("))
      I += bracketLength(Rest.drop_front(), '(', ')');
    else if (Rest.starts_with("${"))
      I += bracketLength(Rest.drop_front(), '{', '}');
    else if (Rest.front() == '"')
      return I;
  }
  return Text.size();
}

size_t rawLength(StringRef Text) {
  size_t I = 0;
  while (I < Text.size()) {
    const StringRef Rest = Text.drop_front(I);
    const char C = Rest.front();
    if (const size_t Length = placeholderLength(Rest)) {
      I += Length;
      continue;
    }
    if (isSpace(C) || StringRef(";&|()<>").contains(C))
      return I;
    if (C == '\\')
      I += 2;
    else if (C == '\'')
      I = std::min(Text.size(), Text.find('\'', I + 1)) + 1;
    else if (C == '`')
      I = std::min(Text.size(), Text.find('`', I + 1)) + 1;
    else if (C == '"')
      I += closingQuote(Rest) + 1;
    else if (Rest.starts_with("$("))
      I += 1 + bracketLength(Rest.drop_front(), '(', ')');
    else if (Rest.starts_with("${"))
      I += 1 + bracketLength(Rest.drop_front(), '{', '}');
    else
      ++I;
  }
  return std::min(I, Text.size());
}

StringRef skipBlanks(StringRef Text, bool OverLines) {
  while (!Text.empty()) {
    if (Text.consume_front("\\\n") || Text.consume_front(" ") ||
        Text.consume_front("\t") || Text.consume_front("\r"))
      continue;
    if (OverLines && Text.consume_front("\n"))
      continue;
    if (!Text.starts_with("#"))
      break;
    Text = Text.drop_front(std::min(Text.size(), Text.find('\n')));
  }
  return Text;
}

std::vector<StringRef> splitRaw(StringRef Text) {
  std::vector<StringRef> Words;
  for (Text = skipBlanks(Text, true); !Text.empty();
       Text = skipBlanks(Text, true)) {
    const size_t Length = std::max<size_t>(rawLength(Text), 1);
    Words.push_back(Text.take_front(Length));
    Text = Text.drop_front(Length);
  }
  return Words;
}

} // namespace foretrace::importers::shell
