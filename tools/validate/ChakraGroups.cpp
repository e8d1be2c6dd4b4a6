// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/ChakraGroups.h"
#include "lang/ParseJson.h"
#include "lang/diagnostics/Validate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace::validate {

bool RankGroup::has(uint32_t Rank) const {
  return binary_search(Members, Rank);
}

ChakraGroups::ChakraGroups(uint32_t Ranks) : Groups(1) {
  for (uint32_t Rank = 0; Rank != Ranks; ++Rank)
    Groups.front().Members.push_back(Rank);
}

bool ChakraGroups::looksLike(StringRef Text) {
  Expected<json::Value> V = parseJson(Text);
  if (!V) {
    consumeError(V.takeError());
    return false;
  }
  const json::Object *O = V->getAsObject();
  return O && !O->empty() && all_of(*O, [](const auto &Entry) {
           const json::Array *A = Entry.second.getAsArray();
           return A && all_of(*A, [](const json::Value &Member) {
                    return Member.getAsInteger().has_value();
                  });
         });
}

/// Reads the listed members of a group; false if they are not a list.
static bool readMembers(const json::Value &V, RankGroup &G, uint32_t Ranks,
                        const Place &At, Findings &Out) {
  const json::Array *List = V.getAsArray();
  if (!List) {
    Out.report(At, diag::ChakraGroupFile,
               formatv("group {0} is not a list of ranks", G.Id).str());
    return false;
  }
  for (const json::Value &Member : *List) {
    const std::optional<int64_t> Rank = Member.getAsInteger();
    if (Rank && *Rank >= 0 && *Rank < Ranks)
      G.Members.push_back(static_cast<uint32_t>(*Rank));
    else
      Out.report(At, diag::ChakraGroupMember, G.Id, formatv("{0}", Member),
                 formatv("not one of {0} ranks", Ranks));
  }
  sort(G.Members);
  const auto Twice = std::adjacent_find(G.Members.begin(), G.Members.end());
  if (Twice != G.Members.end()) {
    Out.report(At, diag::ChakraGroupMember, G.Id, *Twice, "twice");
    G.Members.erase(std::unique(G.Members.begin(), G.Members.end()),
                    G.Members.end());
  }
  return true;
}

void ChakraGroups::read(StringRef Text, StringRef File, Findings &Out) {
  Path = File.str();
  const Place At{Path, 0, {}};
  const auto Ranks = static_cast<uint32_t>(Groups.front().Members.size());
  if (File.contains("empty"))
    Out.report(At, diag::ChakraGroupPath);
  Expected<json::Value> V = parseJson(Text);
  if (!V) {
    Out.report(At, diag::ChakraGroupFile, toString(V.takeError()));
    return;
  }
  const json::Object *O = V->getAsObject();
  if (!O) {
    Out.report(At, diag::ChakraGroupFile, "the groups are not an object");
    return;
  }
  std::map<StringRef, const json::Value *> Sorted;
  for (const auto &[Name, Members] : *O)
    Sorted[Name] = &Members;
  for (const auto &[Name, Members] : Sorted) {
    RankGroup G;
    if (!all_of(Name, isDigit) || Name.getAsInteger(10, G.Id) || G.Id == 0 ||
        G.Id > INT32_MAX)
      Out.report(At, diag::ChakraGroupKey, Name);
    else if (readMembers(*Members, G, Ranks, At, Out))
      Groups.push_back(std::move(G));
  }
  sort(Groups,
       [](const RankGroup &A, const RankGroup &B) { return A.Id < B.Id; });
  for (size_t I = 1; I < Groups.size(); ++I)
    if (Groups[I].Id == Groups[I - 1].Id)
      Out.report(At, diag::ChakraGroupFile,
                 formatv("group {0} stands twice", Groups[I].Id).str());
}

std::optional<uint32_t> ChakraGroups::find(uint32_t Id) const {
  const auto Found =
      partition_point(Groups, [&](const RankGroup &G) { return G.Id < Id; });
  if (Found == Groups.end() || Found->Id != Id)
    return std::nullopt;
  return static_cast<uint32_t>(Found - Groups.begin());
}

std::string ChakraGroups::describe(uint32_t Index) const {
  return Index == 0 ? "all ranks" : "group " + std::to_string(Groups[Index].Id);
}

} // namespace foretrace::validate
