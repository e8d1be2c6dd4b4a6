// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/Format.h"
#include "tools/runs/TraceReader.h"
#include "tools/validate/ChakraReader.h"
#include "tools/validate/SimaiReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::validate {

/// The first line that is neither blank nor a comment of GOAL.
static StringRef firstWords(StringRef Text) {
  for (;;) {
    Text = Text.ltrim();
    if (!Text.starts_with("//"))
      return Text.take_until([](char C) { return C == '\n'; });
    Text = Text.split('\n').second;
  }
}

static bool looksLikeTable(StringRef Text) {
  static constexpr StringRef Words[] = {
#define POLICY(WORD, FAMILY, FIELDS) WORD,
#define KEY(WORD, LEAST, REQUIRED, FAMILY)
#include "tools/validate/SimaiKeys.def"
  };
  StringRef First = Text;
  First.consume_front("\xEF\xBB\xBF");
  if (is_contained(Words, First.take_until(isSpace)) ||
      First.take_until([](char C) { return C == '\n'; })
          .contains("model_parallel_NPU_group"))
    return true;
  // A number alone in the second line.
  const StringRef Second = Text.split('\n').second.split('\n').first.trim();
  return !Second.empty() && all_of(Second, isDigit);
}

static bool looksLikeChakra(StringRef Text) {
  ChakraReader Reader(Text);
  return Reader.hasMetadata() || Reader.next() == ChakraReader::Status::Node;
}

static bool looksLikeTrace(StringRef Line) {
  runs::SeenRow Row;
  if (Error E = runs::parseRow(Line, Row)) {
    consumeError(std::move(E));
    return false;
  }
  return true;
}

Format recognize(StringRef Text) {
  const StringRef First = firstWords(Text);
  if (First.starts_with("num_ranks") ||
      (First.starts_with("rank ") && First.contains('{')))
    return Format::Goal;
  if (looksLikeTable(Text))
    return Format::Table;
  if (looksLikeTrace(First))
    return Format::Trace;
  return looksLikeChakra(Text) ? Format::Chakra : Format::Unknown;
}

} // namespace foretrace::validate
