// SPDX-License-Identifier: Apache-2.0
//
// The `simgrid` backend: what every rank does, in order, as time-independent
// traces for the replay of SimGrid (SMPI), a file each.
#include "backends/EmissionOf.h"
#include "backends/ExpertExchanges.h"
#include "backends/ranks/MessageOptions.h"
#include "backends/ranks/RankFiles.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::option;
using namespace foretrace::simgrid;

namespace foretrace::simgrid {

/// Unit of the amount of a computation.
enum class AmountUnit : unsigned char {
  Time, ///< nanoseconds, for hosts of 1 Gflop/s
  Flops,
};

struct Options {
  ir::MessageRules Rules;
  FileNames Files;
  AmountUnit Computations = AmountUnit::Time;
};

} // namespace foretrace::simgrid

namespace {

/// Writes the tasks of one rank, which does one thing at a time. Messages are
/// begun when the schedule says, and waited for when a task needs them.
class ReplayWriter {
public:
  ReplayWriter(const ir::Program &P, const ir::RankMap &Map, int64_t Rank,
               const ir::MessageRules &Rules, AmountUnit Computations,
               OutputStream &OS);

  void write();

private:
  /// A message under way: what `wait` calls it.
  struct Request {
    int64_t From, To, Tag;
  };

  void task(int64_t Id, const ir::Task &T);
  void collective(const ir::TaskMessages &Of);
  void begin(const ir::TaskMessages &Of, const ir::GroupMessage &M,
             std::vector<Request> &Into);
  void wait(std::vector<Request> &All);
  void waitFor(const ir::Task &T);
  llvm::raw_ostream &line(llvm::StringRef Action);

  const ir::Program &P;
  const ir::RankMap &Map;
  const int64_t Rank;
  const AmountUnit Computations;
  OutputStream &OS;
  ir::RankMessages Messages;
  std::map<int64_t, std::vector<Request>> UnderWay; ///< by task
};

} // namespace

/// SMPI counts in `int`.
static constexpr int64_t Tags = (int64_t(1) << 31) - 1;
/// MPI_BYTE among SMPI's datatypes.
static constexpr int ByteType = 6;

ReplayWriter::ReplayWriter(const Program &P, const RankMap &Map, int64_t Rank,
                           const MessageRules &Rules, AmountUnit Computations,
                           OutputStream &OS)
    : P(P), Map(Map), Rank(Rank), Computations(Computations), OS(OS),
      Messages(P, Map, Rank, Rules, Tags) {}

llvm::raw_ostream &ReplayWriter::line(llvm::StringRef Action) {
  return OS << Rank << ' ' << Action;
}

void ReplayWriter::begin(const TaskMessages &Of, const GroupMessage &M,
                         std::vector<Request> &Into) {
  const int64_t Peer = Of.peer(M), Tag = Of.tag(M);
  line(M.IsSend ? "isend " : "irecv ")
      << Peer << ' ' << Tag << ' ' << M.Bytes.Size << ' ' << ByteType << '\n';
  Into.push_back(M.IsSend ? Request{Rank, Peer, Tag}
                          : Request{Peer, Rank, Tag});
}

void ReplayWriter::wait(std::vector<Request> &All) {
  for (const Request &R : All)
    line("wait ") << R.From << ' ' << R.To << ' ' << R.Tag << '\n';
  All.clear();
}

/// A round begins when all messages of the previous one have arrived. Sends are
/// waited for at the end, so that no rank waits for a later one.
void ReplayWriter::collective(const TaskMessages &Of) {
  std::vector<Request> Sent, Received;
  int64_t Round = 0;
  for (const GroupMessage &M : Of.Of.Messages) {
    if (M.Round != Round)
      wait(Received);
    Round = M.Round;
    begin(Of, M, M.IsSend ? Sent : Received);
  }
  wait(Received);
  wait(Sent);
}

/// Eager sends are not waited for: the receiver may wait for something that
/// this rank does later.
void ReplayWriter::waitFor(const Task &T) {
  auto WaitFor = [&](llvm::ArrayRef<int64_t> Before) {
    for (int64_t Id : Before)
      if (auto It = UnderWay.find(Id); It != UnderWay.end()) {
        wait(It->second);
        UnderWay.erase(It);
      }
  };
  WaitFor(T.Data);
  WaitFor(T.Control);
}

void ReplayWriter::task(int64_t Id, const Task &T) {
  waitFor(T);
  if (T.Kind == TaskKind::Compute) {
    const int64_t Work = Computations == AmountUnit::Time
                             ? T.Of->Time.value()
                             : workOf(P, *T.Of).value();
    if (Work > 0)
      line("compute ") << Work << '\n';
    return;
  }
  const TaskMessages Of = Messages.lower(T);
  if (T.Kind == TaskKind::Collective)
    return collective(Of);
  std::vector<Request> Begun;
  for (const GroupMessage &M : Of.Of.Messages)
    begin(Of, M, Begun);
  if (!isLeftAlone(P, T))
    UnderWay.try_emplace(Id, std::move(Begun));
}

void ReplayWriter::write() {
  line("init\n");
  StageTasks(P, Map.coordinate(Rank, Axis::Pp))
      .forEach([&](int64_t Id, const Task &T) {
        task(Id, T);
        return !OS.isFull();
      });
  line("waitall\n");
  line("finalize\n");
}

static constexpr llvm::StringRef Amounts[] = {"time", "flops"};

constexpr EmitOption simgrid::OptionRows[] = {
#include "backends/simgrid/Options.def"
};
constexpr EmitReader simgrid::Reader = readerOf<Options>(OptionRows);

FactSet simgrid::needs(const Options &) {
  return {Fact::Scheduled, Fact::Sync, Fact::Costs};
}

bool simgrid::check(const EmitRequest &Request, const Options &O,
                    DiagnosticEngine &Diags) {
  reportExpertExchanges(Request, "`emit simgrid`", Diags);
  const bool HasTimes =
      O.Computations == AmountUnit::Flops || checkHasTimes(Request, Diags);
  return checkMessages(Request, O.Rules, Diags) && HasTimes;
}

llvm::Error simgrid::emit(const EmitRequest &Request, const Options &O,
                          OutputSet &Out) {
  const Program &P = Request.Program;
  const RankMap Map(P.Mesh, *P.Spec.Parallel.RankOrder);
  const RankList Ranks = allIfEmpty({}, *P.Spec.Parallel.World);
  std::string Durations;
  if (O.Computations == AmountUnit::Time)
    Durations = P.Spec.Cost.describeDurations();
  auto Path = [&](int64_t Rank) {
    return O.Files.path(Request, llvm::Twine(Rank) + ".trace");
  };
  if (llvm::Error E =
          addRankFiles(Out, Ranks, Path, [&](int64_t Rank, OutputStream &OS) {
            if (!Durations.empty())
              OS << "# durations are " << Durations << '\n';
            ReplayWriter(P, Map, Rank, O.Rules, O.Computations, OS).write();
          }))
    return E;
  return Out.add(O.Files.path(Request, "list"), [&](llvm::raw_ostream &OS) {
    for (int64_t Rank = 0; Rank < *P.Spec.Parallel.World; ++Rank)
      OS << llvm::sys::path::filename(Path(Rank)) << '\n';
  });
}
