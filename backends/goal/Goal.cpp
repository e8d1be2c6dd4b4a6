// SPDX-License-Identifier: Apache-2.0
//
// The `goal` backend: what every rank does, as messages and computations with
// dependences between them, in one file for LogGOPSim and htsim (GOAL,
// Hoefler, Siebert and Lumsdaine, ICPP 2009).
#include "backends/EmissionOf.h"
#include "backends/ExpertExchanges.h"
#include "backends/ranks/MessageOptions.h"
#include "backends/ranks/TaskLimits.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace foretrace;
using namespace foretrace::goal;
using namespace foretrace::ir;
using namespace foretrace::option;

namespace {

/// Writes the tasks of one rank as operations. The operation that ends task 7
/// is `t7`; what comes before it in the task is `t7_0`, `t7_1` and so on. Where
/// many messages wait for much, `t7_in` does that for them.
class GoalWriter {
public:
  GoalWriter(const ir::Program &P, const ir::RankMap &Map, int64_t Rank,
             const ir::MessageRules &Rules, OutputStream &OS);

  void write();

private:
  using Ids = llvm::SmallVector<int64_t, 8>;
  /// An operation of a task: the last one, or the one before the messages, or a
  /// message.
  struct Label {
    static constexpr int64_t End = -1, Entry = -2;
    int64_t Task;
    int64_t Part = End;
  };

  void task(int64_t Id, const ir::Task &T);
  void communicate(int64_t Id, const ir::TaskMessages &Of,
                   llvm::ArrayRef<int64_t> Before);
  void message(const Label &L, const ir::TaskMessages &Of,
               const ir::GroupMessage &M);
  void join(const Label &L);
  void name(const Label &L);
  void require(const Label &L, const Label &Before);
  void requireTasks(const Label &L, llvm::ArrayRef<int64_t> Before);
  Ids needs(const ir::Task &T) const;

  const ir::Program &P;
  const ir::RankMap &Map;
  const int64_t Rank;
  OutputStream &OS;
  ir::RankMessages Messages;
  std::vector<bool> Computes; ///< by task
  /// Dependencies of sends that no task waits for. Tasks after such a send
  /// depend on these instead. (`irequires` would express this, but makes
  /// LogGOPSim go back in time.)
  std::map<int64_t, Ids> LeftAlone;
};

/// Processors of a rank. A send would wait for a computation on the same
/// processor, so sends have their own. So do receives: LogGOPSim sets back the
/// clock of a busy processor if the message has already arrived.
enum class Cpu { Computations, Sends, Receives, Joins };

} // namespace

static llvm::raw_ostream &operator<<(llvm::raw_ostream &OS, Cpu C) {
  return OS << " cpu " << static_cast<int>(C);
}

/// LogGOPSim takes tags modulo 2^32; half of them avoids the sign bit.
static constexpr unsigned TagBits = 31;
static constexpr int64_t Tags = int64_t(1) << TagBits;

/// Rotates \p Tag so that consecutive tags differ in their upper bits:
/// LogGOPSim and htsim hash a message by `(tag >> 16) + source` and never
/// remove one, which makes small consecutive tags quadratic in the number of
/// messages.
static int64_t spread(int64_t Tag) {
  constexpr unsigned HashedBits = TagBits - 16;
  return (Tag & ((1 << HashedBits) - 1)) << 16 | Tag >> HashedBits;
}

GoalWriter::GoalWriter(const Program &P, const RankMap &Map, int64_t Rank,
                       const MessageRules &Rules, OutputStream &OS)
    : P(P), Map(Map), Rank(Rank), OS(OS), Messages(P, Map, Rank, Rules, Tags) {}

void GoalWriter::name(const Label &L) {
  OS << 't' << L.Task;
  if (L.Part == Label::Entry)
    OS << "_in";
  else if (L.Part != Label::End)
    OS << '_' << L.Part;
}

void GoalWriter::require(const Label &L, const Label &Before) {
  name(L);
  OS << " requires ";
  name(Before);
  OS << '\n';
}

void GoalWriter::requireTasks(const Label &L, llvm::ArrayRef<int64_t> Before) {
  for (int64_t Task : Before)
    require(L, {Task});
}

/// An operation that takes no time.
void GoalWriter::join(const Label &L) {
  name(L);
  OS << ": calc 0" << Cpu::Joins << '\n';
}

void GoalWriter::message(const Label &L, const TaskMessages &Of,
                         const GroupMessage &M) {
  name(L);
  // In LogGOPSim, a receive whose message has arrived waits for sends of its
  // nic.
  OS << (M.IsSend ? ": send " : ": recv ") << M.Bytes.Size
     << (M.IsSend ? "b to " : "b from ") << Of.peer(M) << " tag "
     << spread(Of.tag(M)) << (M.IsSend ? Cpu::Sends : Cpu::Receives)
     << (M.IsSend ? " nic 0\n" : " nic 1\n");
}

void GoalWriter::communicate(int64_t Id, const TaskMessages &Of,
                             llvm::ArrayRef<int64_t> Before) {
  const std::vector<GroupMessage> &All = Of.Of.Messages;
  const llvm::ArrayRef<int32_t> Last = Of.Of.Last;
  auto LabelOf = [&](int64_t I) {
    return Last.size() == 1 && Last.front() == I ? Label{Id} : Label{Id, I};
  };
  const auto First = static_cast<size_t>(llvm::count_if(
      All, [](const GroupMessage &M) { return M.After.empty(); }));
  const bool HasEntry = First * Before.size() > First + Before.size() + 1;
  if (HasEntry) {
    join({Id, Label::Entry});
    requireTasks({Id, Label::Entry}, Before);
  }
  for (const auto &[I, M] : llvm::enumerate(All)) {
    const Label L = LabelOf(static_cast<int64_t>(I));
    message(L, Of, M);
    for (int32_t Earlier : M.After)
      require(L, LabelOf(Earlier));
    if (M.After.empty() && HasEntry)
      require(L, {Id, Label::Entry});
    else if (M.After.empty())
      requireTasks(L, Before);
  }
  if (Last.size() == 1)
    return;
  join({Id});
  for (int32_t I : Last)
    require({Id}, LabelOf(I));
  if (All.empty())
    requireTasks({Id}, Before);
}

/// Computations follow one another, so only the last one is needed.
GoalWriter::Ids GoalWriter::needs(const Task &T) const {
  Ids Before;
  for (llvm::ArrayRef<int64_t> Some :
       {llvm::ArrayRef<int64_t>(T.Data), llvm::ArrayRef<int64_t>(T.Control)})
    for (int64_t Id : Some)
      if (auto It = LeftAlone.find(Id); It != LeftAlone.end())
        Before.append(It->second);
      else
        Before.push_back(Id);
  llvm::sort(Before, std::greater<>());
  Before.erase(std::unique(Before.begin(), Before.end()), Before.end());
  bool HasComputed = false;
  llvm::erase_if(Before, [&](int64_t Id) {
    return Computes[static_cast<size_t>(Id)] &&
           std::exchange(HasComputed, true);
  });
  return Before;
}

void GoalWriter::task(int64_t Id, const Task &T) {
  const Ids Before = needs(T);
  Computes.push_back(T.Kind == TaskKind::Compute);
  if (isLeftAlone(P, T))
    LeftAlone.try_emplace(Id, Before);
  if (T.Kind != TaskKind::Compute)
    return communicate(Id, Messages.lower(T), Before);
  name({Id});
  OS << ": calc " << T.Of->Time.value() << Cpu::Computations << '\n';
  requireTasks({Id}, Before);
}

void GoalWriter::write() {
  OS << "rank " << Rank << " {\n";
  StageTasks(P, Map.coordinate(Rank, Axis::Pp))
      .forEach([&](int64_t Id, const Task &T) {
        task(Id, T);
        return !OS.isFull();
      });
  OS << "}\n";
}

struct goal::Options {
  std::string File; ///< empty: from the job's name
  ir::MessageRules Rules;
};

constexpr EmitOption goal::OptionRows[] = {
#include "backends/goal/Options.def"
};
constexpr EmitReader goal::Reader = readerOf<Options>(OptionRows);

FactSet goal::needs(const Options &) {
  return {Fact::Scheduled, Fact::Sync, Fact::Costs};
}

bool goal::check(const EmitRequest &Request, const Options &O,
                 DiagnosticEngine &Diags) {
  const bool HasTimes = checkHasTimes(Request, Diags);
  reportExpertExchanges(Request, "`emit goal`", Diags);
  constexpr double BytesOfTask = 32; // the operation and its dependences
  return checkMessages(Request, O.Rules, Diags) && HasTimes &&
         Request.hasRoom(leastTasks(Request.Program) * BytesOfTask, Diags);
}

llvm::Error goal::emit(const EmitRequest &Request, const Options &O,
                       OutputSet &Out) {
  const Program &P = Request.Program;
  const int64_t World = *P.Spec.Parallel.World;
  const RankMap Map(P.Mesh, *P.Spec.Parallel.RankOrder);
  const std::string Durations = P.Spec.Cost.describeDurations();
  return Out.addParts(
      Request.file(O.File, ".goal"), static_cast<uint64_t>(World),
      [&](uint64_t Rank, OutputStream &OS) {
        if (Rank == 0) {
          OS << "num_ranks " << World << '\n';
          if (!Durations.empty())
            OS << "// durations are " << Durations << '\n';
        }
        GoalWriter(P, Map, static_cast<int64_t>(Rank), O.Rules, OS).write();
      });
}
