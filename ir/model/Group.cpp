// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Group.h"
#include "ir/model/Ranks.h"
#include "ir/model/Schedule.h"
#include "ir/model/Spellings.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

static bool always(const Spec &) { return true; }

static bool sharesAmongSome(const Spec &Job) { return Job.Parallel.isHybrid(); }

static bool sharesAmongAll(const Spec &Job) { return !sharesAmongSome(Job); }

static bool hasTiedEnds(const Spec &Job) {
  return Job.Model.hasTableAtEnd() &&
         tiedHeadOf(Job.Parallel) == TiedHead::Apart;
}

static bool hasTwoCopies(const Spec &Job) {
  return getInfo(*Job.Parallel.Schedule).Placement ==
         PlacementKind::Bidirectional;
}

llvm::ArrayRef<ProcessGroup> foretrace::ir::allProcessGroups() {
  static const std::vector<ProcessGroup> Groups = {
#define UNPACK(...) __VA_ARGS__
#define PROCESS_GROUP(NAME, AXES, MEMBERS, IS_USED, DOC)                       \
  {NAME, {{UNPACK AXES}, GroupMembers::MEMBERS}, IS_USED},
#include "ir/model/Groups.def"
#undef UNPACK
  };
  return Groups;
}

llvm::ArrayRef<llvm::StringRef> foretrace::ir::allGroupNames() {
  static const std::vector<llvm::StringRef> Names = [] {
    std::vector<llvm::StringRef> All;
    for (const ProcessGroup &G : allProcessGroups())
      if (!llvm::is_contained(All, G.Name))
        All.push_back(G.Name);
    return All;
  }();
  return Names;
}

int64_t Group::size(const Mesh &M) const {
  const int64_t Ranks = M.groupSize(Axes);
  return Members == GroupMembers::All ? Ranks : std::min<int64_t>(Ranks, 2);
}

std::vector<int64_t> Group::ranks(const RankMap &Map, int64_t Rank) const {
  const int64_t Line = Map.lengthOf(Axes);
  std::vector<int64_t> Ranks;
  if (Members == GroupMembers::All) {
    for (int64_t I = 0; I < Line; ++I)
      Ranks.push_back(Map.at(Rank, Axes, I));
    return Ranks;
  }
  const int64_t Here =
      Members == GroupMembers::Pairs ? Map.position(Rank, Axes) : 0;
  const int64_t First = std::min(Here, Line - 1 - Here);
  Ranks.push_back(Map.at(Rank, Axes, First));
  if (const int64_t Last = Line - 1 - First; Last != First)
    Ranks.push_back(Map.at(Rank, Axes, Last));
  return Ranks;
}

AxisList foretrace::ir::axesBeside(llvm::ArrayRef<Axis> Axes) {
  static constexpr Axis Dense[] = {Axis::Tp, Axis::Cp, Axis::Dp,
                                   Axis::DpReplicate, Axis::Pp},
                        Experts[] = {Axis::Etp, Axis::Ep, Axis::Edp,
                                     Axis::DpReplicate, Axis::Pp};
  auto IsDense = [](Axis A) { return llvm::is_contained(Dense, A); };
  AxisList Others;
  for (Axis A : llvm::all_of(Axes, IsDense) ? Dense : Experts)
    if (!llvm::is_contained(Axes, A))
      Others.push_back(A);
  return Others;
}

int64_t Group::count(const Mesh &M) const {
  const int64_t Line = M.groupSize(Axes);
  const int64_t OfLine = Members == GroupMembers::Pairs ? (Line + 1) / 2 : 1;
  return M.groupSize(axesBeside(Axes)) * OfLine;
}

int64_t Group::number(const RankMap &Map, int64_t Rank) const {
  const int64_t Line = Map.lineOf(Rank, Axes);
  if (Members != GroupMembers::Pairs)
    return Line;
  const int64_t Length = Map.lengthOf(Axes), Here = Map.position(Rank, Axes);
  return Line * ((Length + 1) / 2) + std::min(Here, Length - 1 - Here);
}

bool Group::isFirst(const RankMap &Map, int64_t Rank) const {
  const int64_t Here = Map.position(Rank, Axes);
  return Here == 0 || (Members == GroupMembers::Pairs &&
                       Here <= Map.lengthOf(Axes) - 1 - Here);
}

/// Without the axes of one rank.
static Group reduced(Group G, const Mesh &M) {
  llvm::erase_if(G.Axes, [&](Axis A) { return M[A] == 1; });
  return G;
}

llvm::StringRef Group::name(const Spec &Job, const Mesh &M) const {
  auto Find = [&](auto IsSame) -> llvm::StringRef {
    for (const ProcessGroup &G : allProcessGroups())
      if (IsSame(G.Group) && (Members != GroupMembers::All || G.IsUsed(Job)))
        return G.Name;
    return "";
  };
  const llvm::StringRef Name = Find([&](const Group &G) { return G == *this; });
  if (!Name.empty())
    return Name;
  const Group Own = reduced(*this, M);
  return Find([&](const Group &G) { return reduced(G, M) == Own; });
}

std::string foretrace::ir::textOf(const Group &G, const Spec &Job,
                                  const Mesh &M) {
  if (const llvm::StringRef Name = G.name(Job, M); !Name.empty())
    return Name.str();
  std::string Axes;
  llvm::raw_string_ostream(Axes) << G;
  return Axes;
}

llvm::raw_ostream &foretrace::ir::operator<<(llvm::raw_ostream &OS,
                                             const Group &G) {
  llvm::interleave(G.Axes, OS, [&](Axis A) { OS << getName(A); }, ",");
  const llvm::StringRef Word = getSpelling(G.Members);
  return OS << (Word.empty() ? "" : " ") << Word;
}
