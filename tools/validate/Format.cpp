// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/Format.h"
#include "frontend/RequestReader.h"
#include "tools/validate/ChakraReader.h"
#include "tools/validate/ServingSimCheck.h"
#include "tools/validate/SimaiReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::validate {

/// Returns whether one of the first lines begins a schedule or a rank of it.
/// The very first may be a comment, or what is to be reported.
static bool looksLikeGoal(StringRef Text) {
  constexpr int MostLines = 16;
  for (int I = 0; I != MostLines && !Text.empty(); ++I) {
    const auto [Line, After] = Text.split('\n');
    const StringRef Words = Line.trim();
    if (Words.starts_with("num_ranks") ||
        (Words.starts_with("rank ") && Words.contains('{')))
      return true;
    Text = After;
  }
  return false;
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

Format recognize(StringRef Text) {
  if (looksLikeGoal(Text))
    return Format::Goal;
  if (looksLikeServingSim(Text))
    return Format::ServingSim;
  if (looksLikeRequests(Text))
    return Format::Requests;
  if (looksLikeTable(Text))
    return Format::Table;
  if (Text.ltrim().starts_with("rank:"))
    return Format::Trace;
  return looksLikeChakra(Text) ? Format::Chakra : Format::Unknown;
}

} // namespace foretrace::validate
