// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/Messages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace foretrace::validate {

uint64_t hashOf(const Message &M) {
  const uint64_t Words[] = {M.Source, M.Target, M.Tag, M.Bytes};
  return xxh3_64bits(
      ArrayRef(reinterpret_cast<const uint8_t *>(Words), sizeof(Words)));
}

void MessageLedger::merge(const MessageLedger &Other) {
  for (const auto &[Target, Sum] : Other.Sums)
    Sums[Target] += Sum;
}

std::vector<uint32_t> MessageLedger::unbalanced(size_t Most) const {
  std::vector<uint32_t> Targets;
  for (const auto &[Target, Sum] : Sums)
    if (Sum != 0)
      Targets.push_back(static_cast<uint32_t>(Target));
  sort(Targets);
  Targets.resize(std::min(Targets.size(), Most));
  return Targets;
}

bool MessageLookup::wants(uint32_t Target) const {
  return binary_search(Targets, Target);
}

void MessageLookup::add(const Message &M, const Place &At, int64_t Count) {
  if (!wants(M.Target))
    return;
  Entry &E = Known[{M.Target, M.Source, M.Tag}][M.Bytes];
  E.Open += Count;
  (Count > 0 ? E.Sent : E.Received) = At;
}

void MessageLookup::merge(const MessageLookup &Later) {
  for (const auto &[Key, Others] : Later.Known)
    for (const auto &[Bytes, Other] : Others) {
      Entry &E = Known[Key][Bytes];
      E.Open += Other.Open;
      if (!Other.Sent.Path.empty())
        E.Sent = Other.Sent;
      if (!Other.Received.Path.empty())
        E.Received = Other.Received;
    }
}

void MessageLookup::report(const Slugs &S, Findings &Out) const {
  for (const auto &[Key, Sizes] : Known) {
    const auto &[Target, Source, Tag] = Key;
    auto Sent = find_if(Sizes, [](const auto &E) { return E.second.Open > 0; });
    auto Received =
        find_if(Sizes, [](const auto &E) { return E.second.Open < 0; });
    if (Sent != Sizes.end() && Received != Sizes.end())
      Out.report(Sent->second.Sent, S.Size, Source, Sent->first, Tag, Target,
                 Received->first);
    else if (Sent != Sizes.end())
      Out.report(Sent->second.Sent, S.Send, Target, Tag, Source);
    else if (Received != Sizes.end())
      Out.report(Received->second.Received, S.Recv, Source, Tag, Target);
  }
}

} // namespace foretrace::validate
