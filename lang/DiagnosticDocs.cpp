// SPDX-License-Identifier: Apache-2.0
#include "lang/DiagnosticDocs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using llvm::StringRef;
using llvm::Twine;

namespace {
struct DocumentationPage {
  llvm::StringLiteral Path, Text;
};
} // namespace

static constexpr DocumentationPage Pages[] = {
#include "lang/Pages.inc"
};

/// Returns the text up to the next heading; example lines can look like one.
static StringRef untilHeading(StringRef Text) {
  bool IsExample = false;
  for (StringRef Rest = Text; !Rest.empty(); Rest = Rest.split('\n').second) {
    if (Rest.starts_with("```"))
      IsExample = !IsExample;
    else if (!IsExample && (Rest.starts_with("# ") || Rest.starts_with("## ")))
      return Text.drop_back(Rest.size());
  }
  return Text;
}

StringRef foretrace::findSection(StringRef Slug) {
  const StringRef Page = Pages[0].Text;
  const std::string Heading = ("\n## " + Twine(Slug) + "\n").str();
  const size_t At = Page.find(Heading);
  return At == StringRef::npos
             ? StringRef()
             : untilHeading(Page.substr(At + Heading.size())).trim();
}

std::string foretrace::firstSentence(StringRef Section) {
  const StringRef Paragraph = Section.take_front(Section.find("\n\n"));
  size_t End = 0;
  bool IsCode = false;
  for (; End != Paragraph.size(); ++End) {
    IsCode ^= Paragraph[End] == '`';
    if (!IsCode && Paragraph[End] == '.' &&
        (End + 1 == Paragraph.size() || llvm::isSpace(Paragraph[End + 1])))
      break;
  }
  std::string Sentence = Paragraph.take_front(End + 1).str();
  std::replace(Sentence.begin(), Sentence.end(), '\n', ' ');
  return Sentence;
}
