// SPDX-License-Identifier: Apache-2.0
#include "backends/RankFiles.h"
#include "backends/EmitOptions.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Path.h"

using namespace foretrace;
using namespace foretrace::ir;

void foretrace::readDir(const NamedAttribute &Option, std::string &Into,
                        DiagnosticEngine &Diags) {
  if (Option.Value.K != Attribute::Kind::Text)
    return reportOptionValue(Option, "a folder in quotes", Diags);
  Into = Option.Value.Text;
}

void foretrace::readName(const NamedAttribute &Option, std::string &Into,
                         DiagnosticEngine &Diags) {
  const llvm::StringRef Text = Option.Value.Text;
  if (Option.Value.K != Attribute::Kind::Text || Text.empty() ||
      Text.contains('/'))
    return reportOptionValue(
        Option, "the beginning of a file's name, in quotes", Diags);
  Into = Text;
}

llvm::StringRef FileNames::stem(const EmitRequest &Request) const {
  return Name.empty() ? Request.DefaultStem : llvm::StringRef(Name);
}

std::string FileNames::path(const EmitRequest &Request,
                            const llvm::Twine &End) const {
  llvm::SmallString<64> Path(Dir);
  llvm::sys::path::append(Path, stem(Request) + "." + End);
  return Path.str().str();
}

/// `3` or `8-11`.
static std::optional<RankRange> parseRange(llvm::StringRef Text) {
  auto [First, Last] = Text.trim().split('-');
  RankRange R{};
  if (First.trim().getAsInteger(10, R.First) || R.First < 0)
    return std::nullopt;
  R.Last = R.First;
  if (Text.contains('-') &&
      (Last.trim().getAsInteger(10, R.Last) || R.Last < R.First))
    return std::nullopt;
  return R;
}

void foretrace::readRanks(const NamedAttribute &Option, RankList &Into,
                          DiagnosticEngine &Diags, llvm::StringRef Words) {
  const Attribute &V = Option.Value;
  if (V.K == Attribute::Kind::Name && V.Text == "all")
    return;
  if (V.K == Attribute::Kind::Int && V.Integer >= 0) {
    Into.push_back({V.Integer, V.Integer, V.Range});
    return;
  }
  llvm::SmallVector<llvm::StringRef> Parts;
  llvm::StringRef(V.Text).split(Parts, ',');
  for (llvm::StringRef Part : Parts)
    if (std::optional<RankRange> R = parseRange(Part)) {
      R->Range = V.Range;
      Into.push_back(*R);
    }
  if (V.K != Attribute::Kind::Text || Into.size() != Parts.size())
    reportOptionValue(
        Option, (Words + ", a rank, or ranks in quotes, \"0,4,8-11\"").str(),
        Diags);
}

bool foretrace::checkRanks(const RankList &Ranks, int64_t World,
                           DiagnosticEngine &Diags) {
  bool IsGood = true;
  for (const RankRange &R : Ranks)
    if (R.Last >= World) {
      Diags.report(R.Range, diag::EmitRank, R.Last, World);
      IsGood = false;
    }
  return IsGood;
}

RankList foretrace::allIfEmpty(const RankList &Ranks, int64_t World) {
  return Ranks.empty() ? RankList{{0, World - 1, {}}} : Ranks;
}

llvm::Error foretrace::addRankFiles(
    OutputSet &Out, const RankList &Ranks,
    llvm::function_ref<std::string(int64_t Rank)> Path,
    llvm::function_ref<void(int64_t Rank, llvm::raw_ostream &)> Write) {
  for (const RankRange &Range : Ranks) {
    auto RankOf = [&](uint64_t I) {
      return Range.First + static_cast<int64_t>(I);
    };
    if (llvm::Error E = Out.addAll(
            static_cast<uint64_t>(Range.Last - Range.First) + 1,
            [&](uint64_t I) { return Path(RankOf(I)); },
            [&](uint64_t I, llvm::raw_ostream &OS) { Write(RankOf(I), OS); }))
      return E;
  }
  return llvm::Error::success();
}
