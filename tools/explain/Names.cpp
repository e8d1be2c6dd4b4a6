// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/Names.h"
#include "lang/DidYouMean.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::explain {

static void addOnce(std::vector<std::string> &To, std::string Name) {
  if (!is_contained(To, Name))
    To.push_back(std::move(Name));
}

void NameList::add(StringRef Block, StringRef Name) {
  addOnce(Plain, Name.str());
  addOnce(InBlocks, (Block + "/" + Name).str());
}

Error NameList::unknown(StringRef What, StringRef Name) const {
  std::string Text = ("`" + Name + "` is not " + What + " of the job").str();
  std::vector<StringRef> Candidates(Plain.begin(), Plain.end());
  Candidates.insert(Candidates.end(), InBlocks.begin(), InBlocks.end());
  const StringRef Near = nearestWord(Name, Candidates);
  Text += Near.empty() ? "; there are " + join(Plain, ", ")
                       : "; did you mean `" + Near.str() + "`?";
  return createStringError(inconvertibleErrorCode(), Text);
}

} // namespace foretrace::explain
