// SPDX-License-Identifier: Apache-2.0
//
// A SimAI/AICB workload table, folded: what repeats is stored once. Whoever
// accounts (Aicb.h, Exact.h) builds one; Adapt.h edits it; writing unfolds it,
// and writes a row as several if one can't hold its time.
#pragma once

#include "lang/Quantity.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace foretrace::ir {
struct Op;
} // namespace foretrace::ir

namespace foretrace::simai {

enum class Comm : unsigned char {
#define COMM(ENUMERATOR, WORD) ENUMERATOR,
#include "backends/simai/Comms.def"
};
enum class CellGroup : unsigned char {
#define GROUP(ENUMERATOR, SUFFIX) ENUMERATOR,
#include "backends/simai/Comms.def"
};
/// The words of tables, by Comm, and their suffixes, by CellGroup.
inline constexpr llvm::StringRef CommWords[] = {
#define COMM(ENUMERATOR, WORD) WORD,
#include "backends/simai/Comms.def"
};
inline constexpr llvm::StringRef GroupSuffixes[] = {
#define GROUP(ENUMERATOR, SUFFIX) SUFFIX,
#include "backends/simai/Comms.def"
};

/// One of the three columns of a row.
struct WorkloadCell {
  int64_t Time = 0; ///< ns
  simai::Comm Comm = simai::Comm::None;
  CellGroup Group = CellGroup::Column;
  int64_t Size = 0; ///< bytes, of the whole group (gathered size)
  /// Printed as Python prints a float, `12976128.0` (a quirk of one version).
  bool IsFloat = false;
  /// The collective of the IR; null if there is none, or with a generator's
  /// formula.
  const ir::Op *Collective = nullptr;
  std::vector<const ir::Op *> Timed = {}; ///< the same of its time
};

/// One row: `name -1 <forward> <backward> <update> 100`.
struct WorkloadRow {
  std::string Name;
  WorkloadCell Forward, Backward, Update;
  bool EndsLayer = false; ///< of a transformer layer, which is one body
};

/// `Repeat` times the rows of one body.
struct Run {
  unsigned Body; ///< index into Table::Bodies
  int64_t Repeat = 1;
};

/// `Repeat` times a list of runs, as layers of several kinds take turns.
struct Period {
  std::vector<Run> Runs;
  int64_t Repeat = 1;
};

/// `Repeat` times a list of periods: what happens once, or each micro-batch.
struct WorkloadPart {
  std::vector<Period> Periods;
  int64_t Repeat = 1;
  bool IsMicroBatch = false;

  void add(Run R) { Periods.push_back({{R}}); }
};

/// Line 1.
struct Header {
  int64_t Tp = 1, Ep = 1, Pp = 1;
  std::optional<int64_t> Vpp; ///< absent in the oldest version
  int64_t Ga = 1, World = 1;
  std::optional<int64_t> Mode; ///< of tables of inference
  /// As printed: "6291456", "6291456.0"; absent in the oldest version.
  std::optional<std::string> PpComm;
  bool PpCommColon = true;
};

using RowCount = Quantity<struct RowUnit>;

/// The simulator's reader keeps times, `pp_comm` and the number of rows in 32
/// bits: it hangs or aborts with this and more.
constexpr int64_t ReaderLimit = int64_t(1) << 31;

/// Rows that one may be written as: more would take longer than any training
/// step, and fill the disk.
constexpr int64_t MostShares = 256;

struct WorkloadTable {
  simai::Header Header;
  int64_t LongestTime = INT64_MAX; ///< ns, of a row as it is written
  std::vector<std::vector<WorkloadRow>> Bodies;
  std::vector<WorkloadPart> Parts;

  unsigned addBody(std::vector<WorkloadRow> Rows) {
    Bodies.push_back(std::move(Rows));
    return static_cast<unsigned>(Bodies.size() - 1);
  }
  /// Rows that are written once, as a part.
  void addOnce(std::vector<WorkloadRow> Rows) {
    WorkloadPart Once;
    Once.add({addBody(std::move(Rows))});
    Parts.push_back(std::move(Once));
  }
  RowCount rowCount() const; ///< as written
};

/// Visits every run with its number of repetitions in the table.
void forEachRun(const WorkloadTable &T,
                llvm::function_ref<void(const Run &, RowCount)> Visit);
/// The row that is written in place \p Index, from 0, which is one of
/// rowCount().
WorkloadRow rowAt(const WorkloadTable &T, int64_t Index);
/// The rows as they are written, in order.
void forEachRow(const WorkloadTable &T,
                llvm::function_ref<void(const WorkloadRow &)> Visit);

void writeHeader(const Header &H, llvm::raw_ostream &OS);
void writeRow(const WorkloadRow &R, llvm::raw_ostream &OS);
/// The whole file. Bodies are formatted once, however often they repeat.
void writeTable(const WorkloadTable &T, llvm::raw_ostream &OS);

} // namespace foretrace::simai
