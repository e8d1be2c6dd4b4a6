// SPDX-License-Identifier: Apache-2.0
#include "backends/simgrid/ReplayWriter.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::simgrid;

/// SMPI counts in `int`.
static constexpr int64_t Tags = (int64_t(1) << 31) - 1;
/// Of SMPI's datatypes: MPI_BYTE.
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

/// A round begins when everything of the last one has come; sends are waited
/// for at the end, so that nobody waits for who comes later.
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

/// What is sent eagerly is not waited for: whoever receives it may wait for
/// something later of this rank.
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
