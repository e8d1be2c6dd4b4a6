// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/Fields.h"

using namespace llvm;

std::vector<StringRef> foretrace::fit::splitFields(StringRef Line) {
  std::vector<StringRef> Fields;
  while (true) {
    size_t End = 0;
    for (bool InQuotes = false; End < Line.size(); ++End) {
      if (Line[End] == '"')
        InQuotes = !InQuotes;
      else if (Line[End] == ',' && !InQuotes)
        break;
    }
    Fields.push_back(Line.take_front(End).trim(" \t\r\""));
    if (End == Line.size())
      return Fields;
    Line = Line.drop_front(End + 1);
  }
}
