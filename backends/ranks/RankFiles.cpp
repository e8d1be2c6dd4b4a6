// SPDX-License-Identifier: Apache-2.0
#include "backends/ranks/RankFiles.h"
#include "lang/diagnostics/Backends.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Path.h"

using namespace foretrace;
using namespace foretrace::ir;

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

llvm::ArrayRef<llvm::StringRef> option::Ranks::words() {
  static constexpr llvm::StringRef Words[] = {"all"};
  return Words;
}

bool option::Ranks::read(const Attribute &A, RankList &Into,
                         DiagnosticEngine &) {
  if (findWord(A, words()))
    return true;
  if (A.K == Attribute::Kind::Int && A.Integer >= 0) {
    Into.push_back({A.Integer, A.Integer, A.Range});
    return true;
  }
  llvm::SmallVector<llvm::StringRef> Parts;
  llvm::StringRef(A.Text).split(Parts, ',');
  for (llvm::StringRef Part : Parts)
    if (std::optional<RankRange> R = parseRange(Part)) {
      R->Range = A.Range;
      Into.push_back(*R);
    }
  return A.K == Attribute::Kind::Text && Into.size() == Parts.size();
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

double foretrace::countRanks(const RankList &Ranks) {
  double Count = 0;
  for (const RankRange &R : Ranks)
    Count += static_cast<double>(R.Last - R.First + 1);
  return Count;
}

llvm::Error foretrace::addRankFiles(
    OutputSet &Out, const RankList &Ranks,
    llvm::function_ref<std::string(int64_t Rank)> Path,
    llvm::function_ref<void(int64_t Rank, OutputStream &)> Write) {
  for (const RankRange &Range : Ranks) {
    auto RankOf = [&](uint64_t I) {
      return Range.First + static_cast<int64_t>(I);
    };
    if (llvm::Error E = Out.addAll(
            static_cast<uint64_t>(Range.Last - Range.First) + 1,
            [&](uint64_t I) { return Path(RankOf(I)); },
            [&](uint64_t I, OutputStream &OS) { Write(RankOf(I), OS); }))
      return E;
  }
  return llvm::Error::success();
}
