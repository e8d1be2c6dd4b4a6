// SPDX-License-Identifier: Apache-2.0
#include "ir/model/RequestTrace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Reads `7` or `7-9`, which must not be more than \p Most ids.
static bool readIds(llvm::StringRef &Text, size_t Most,
                    std::vector<uint64_t> &Into) {
  uint64_t First, Last;
  if (Text.consumeInteger(10, First))
    return false;
  Last = First;
  if (Text.consume_front("-") && Text.consumeInteger(10, Last))
    return false;
  if (Last < First || Last - First >= Most)
    return false;
  for (uint64_t Id = First; Id != Last; ++Id)
    Into.push_back(Id);
  Into.push_back(Last);
  return true;
}

std::optional<RequestTrace> RequestTrace::parse(llvm::StringRef Text) {
  RequestTrace T;
  size_t Left = MaxIds;
  do {
    TracedRequest &R = T.Requests.emplace_back();
    if (Text.consumeInteger(10, R.Input) || !Text.consume_front(" ") ||
        Text.consumeInteger(10, R.Output))
      return std::nullopt;
    while (Text.consume_front(" "))
      if (!readIds(Text, Left - R.Ids.size(), R.Ids))
        return std::nullopt;
    Left -= R.Ids.size();
  } while (Text.consume_front("; "));
  return Text.empty() ? std::optional(std::move(T)) : std::nullopt;
}

std::string RequestTrace::text() const {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  llvm::interleave(
      Requests, OS,
      [&](const TracedRequest &R) {
        OS << R.Input << ' ' << R.Output;
        for (size_t I = 0, Next; I < R.Ids.size(); I = Next) {
          for (Next = I + 1; Next < R.Ids.size(); ++Next)
            if (R.Ids[Next] != R.Ids[Next - 1] + 1)
              break;
          OS << ' ' << R.Ids[I];
          if (Next - I > 1)
            OS << '-' << R.Ids[Next - 1];
        }
      },
      "; ");
  return Text;
}

int64_t RequestTrace::tokens(uint32_t TracedRequest::*Of) const {
  int64_t Sum = 0;
  for (const TracedRequest &R : Requests)
    Sum += R.*Of;
  return Sum;
}

bool RequestTrace::hasIds() const {
  return llvm::any_of(Requests,
                      [](const TracedRequest &R) { return !R.Ids.empty(); });
}
