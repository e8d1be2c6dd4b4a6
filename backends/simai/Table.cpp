// SPDX-License-Identifier: Apache-2.0
#include "backends/simai/Table.h"
#include "llvm/Support/ErrorHandling.h"

using namespace foretrace;
using namespace foretrace::simai;

/// How many rows \p R is written as.
static int64_t shareCount(const WorkloadRow &R, int64_t LongestTime) {
  const int64_t Most =
      std::max({R.Forward.Time, R.Backward.Time, R.Update.Time, int64_t(1)});
  return std::min((Most - 1) / LongestTime + 1, MostShares);
}

/// The \p I-th of the \p Count rows that \p R is written as: an even share of
/// its times. A message follows the whole time, and backward goes through the
/// rows from the last to the first.
static WorkloadRow shareOf(const WorkloadRow &R, int64_t I, int64_t Count) {
  WorkloadRow Share;
  Share.Name = R.Name;
  for (WorkloadCell WorkloadRow::*C :
       {&WorkloadRow::Forward, &WorkloadRow::Backward, &WorkloadRow::Update}) {
    const WorkloadCell &Whole = R.*C;
    WorkloadCell &Part = Share.*C;
    if (I == (C == &WorkloadRow::Forward ? Count - 1 : 0))
      Part = Whole;
    Part.Timed = Whole.Timed;
    Part.Time = Whole.Time / Count + (I < Whole.Time % Count ? 1 : 0);
  }
  return Share;
}

/// Rows of a run, once.
static RowCount countRows(const WorkloadTable &T, const Run &R) {
  RowCount Rows;
  for (const WorkloadRow &Row : T.Bodies[R.Body])
    Rows += RowCount(shareCount(Row, T.LongestTime));
  return Rows;
}

/// Rows of a period, once.
static RowCount countRows(const WorkloadTable &T, const Period &P) {
  RowCount Rows;
  for (const Run &R : P.Runs)
    Rows += countRows(T, R) * R.Repeat;
  return Rows;
}

/// Rows of a part, once.
static RowCount countRows(const WorkloadTable &T, const WorkloadPart &P) {
  RowCount Rows;
  for (const Period &Period : P.Periods)
    Rows += countRows(T, Period) * Period.Repeat;
  return Rows;
}

RowCount WorkloadTable::rowCount() const {
  RowCount Total;
  for (const WorkloadPart &P : Parts)
    Total += countRows(*this, P) * P.Repeat;
  return Total;
}

void foretrace::simai::forEachRun(
    const WorkloadTable &T,
    llvm::function_ref<void(const Run &, RowCount)> Visit) {
  for (const WorkloadPart &Pt : T.Parts)
    for (const Period &P : Pt.Periods)
      for (const Run &R : P.Runs)
        Visit(R, RowCount(R.Repeat) * P.Repeat * Pt.Repeat);
}

/// The one of \p Folded that row \p Index is in, which becomes its place in one
/// turn of that.
template <typename FoldedT>
static const FoldedT &unfold(const WorkloadTable &T,
                             const std::vector<FoldedT> &Folded,
                             int64_t &Index) {
  for (const FoldedT &F : Folded) {
    const int64_t Once = countRows(T, F).value();
    if (Index < Once * F.Repeat) {
      Index %= Once;
      return F;
    }
    Index -= Once * F.Repeat;
  }
  llvm_unreachable("no row of the table");
}

WorkloadRow foretrace::simai::rowAt(const WorkloadTable &T, int64_t Index) {
  const WorkloadPart &P = unfold(T, T.Parts, Index);
  const Period &Layers = unfold(T, P.Periods, Index);
  const Run &R = unfold(T, Layers.Runs, Index);
  for (const WorkloadRow &Row : T.Bodies[R.Body]) {
    const int64_t Count = shareCount(Row, T.LongestTime);
    if (Index < Count)
      return Count == 1 ? Row : shareOf(Row, Index, Count);
    Index -= Count;
  }
  llvm_unreachable("no row of the run");
}

/// The rows that \p R is written as.
static void forEachShare(const WorkloadRow &R, int64_t LongestTime,
                         llvm::function_ref<void(const WorkloadRow &)> Visit) {
  const int64_t Count = shareCount(R, LongestTime);
  if (Count == 1)
    return Visit(R);
  for (int64_t I = 0; I < Count; ++I)
    Visit(shareOf(R, I, Count));
}

template <typename FoldedT, typename VisitT>
static void repeat(const std::vector<FoldedT> &Folded, VisitT Visit) {
  for (const FoldedT &F : Folded)
    for (int64_t I = 0; I < F.Repeat; ++I)
      Visit(F);
}

/// The bodies as they follow one another, by their index.
template <typename VisitT>
static void forEachBody(const WorkloadTable &T, VisitT Visit) {
  repeat(T.Parts, [&](const WorkloadPart &Pt) {
    repeat(Pt.Periods, [&](const Period &P) {
      repeat(P.Runs, [&](const Run &R) { Visit(R.Body); });
    });
  });
}

void foretrace::simai::forEachRow(
    const WorkloadTable &T,
    llvm::function_ref<void(const WorkloadRow &)> Visit) {
  forEachBody(T, [&](unsigned Body) {
    for (const WorkloadRow &Row : T.Bodies[Body])
      forEachShare(Row, T.LongestTime, Visit);
  });
}

void foretrace::simai::writeHeader(const Header &H, llvm::raw_ostream &OS) {
  OS << "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: " << H.Tp
     << " ep: " << H.Ep << " pp: " << H.Pp;
  if (H.Mode)
    OS << " all_gpus: " << H.World << " mode: " << *H.Mode;
  if (H.Vpp)
    OS << " vpp: " << *H.Vpp;
  OS << " ga: " << H.Ga;
  if (!H.Mode)
    OS << " all_gpus: " << H.World;
  OS << " checkpoints: 0 checkpoint_initiates: 0";
  if (H.PpComm)
    OS << " pp_comm" << (H.PpCommColon ? ": " : " ") << *H.PpComm;
  OS << '\n';
}

static void writeCell(const WorkloadCell &C, llvm::raw_ostream &OS) {
  OS << C.Time << '\t' << CommWords[static_cast<size_t>(C.Comm)];
  if (C.Comm != Comm::None)
    OS << GroupSuffixes[static_cast<size_t>(C.Group)];
  OS << '\t' << C.Size << (C.IsFloat ? ".0\t" : "\t");
}

void foretrace::simai::writeRow(const WorkloadRow &R, llvm::raw_ostream &OS) {
  OS << R.Name << "\t-1\t";
  writeCell(R.Forward, OS);
  writeCell(R.Backward, OS);
  writeCell(R.Update, OS);
  OS << "100\n";
}

void foretrace::simai::writeTable(const WorkloadTable &T,
                                  llvm::raw_ostream &OS) {
  std::vector<std::string> Texts;
  for (const std::vector<WorkloadRow> &Body : T.Bodies) {
    llvm::raw_string_ostream Text(Texts.emplace_back());
    for (const WorkloadRow &R : Body)
      forEachShare(R, T.LongestTime,
                   [&](const WorkloadRow &Share) { writeRow(Share, Text); });
  }
  writeHeader(T.Header, OS);
  OS << T.rowCount().value() << '\n';
  forEachBody(T, [&](unsigned Body) { OS << Texts[Body]; });
}
