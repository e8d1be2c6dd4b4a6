// SPDX-License-Identifier: Apache-2.0
#include "analysis/Caveats.h"
#include "lang/Library.h"
#include "tools/compiler/Compiler.h"
#include "tools/driver/Listings.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <cmath>

using namespace llvm;

namespace foretrace::driver {

namespace {

/// A column: its key for programs, and its heading for people, who read numbers
/// in units of Of.
struct Column {
  StringLiteral Key, Heading;
  double Of = 0; ///< 0 of words
  int Digits = 4;
};

/// Rows of text, whose numbers are rounded unless they shall be exact.
class MachineTable {
public:
  MachineTable(ArrayRef<Column> Columns, bool IsExact)
      : Columns(Columns), IsExact(IsExact) {}

  void beginRow() { Rows.emplace_back(); }
  void add(StringRef Words) { Rows.back().push_back(Words.str()); }
  /// An absent number is an empty cell.
  void add(std::optional<int64_t> Number);
  void add(const Located<int64_t> &Number) {
    add(Number.isPresent() ? std::optional(*Number) : std::nullopt);
  }
  void add(const Located<std::string> &Words) {
    add(Words.isPresent() ? StringRef(*Words) : "");
  }
  /// Leaves all cells but the last one empty.
  void skipToLast() { Rows.back().resize(Columns.size() - 1); }

  void write(RowFormat As, raw_ostream &OS) const;

private:
  const ArrayRef<Column> Columns;
  const bool IsExact;
  std::vector<std::vector<std::string>> Rows;
};

} // namespace

/// All digits before the point, and \p Digits in all.
static std::string rounded(int64_t Number, double Of, int Digits = 4) {
  const double Value = static_cast<double>(Number) / Of;
  std::string Text;
  raw_string_ostream(Text) << (Value < std::pow(10, Digits)
                                   ? format("%.*g", Digits, Value)
                                   : format("%.*f", 0, Value));
  return Text;
}

void MachineTable::add(std::optional<int64_t> Number) {
  const Column &In = Columns[Rows.back().size()];
  add(!Number   ? ""
      : IsExact ? std::to_string(*Number)
                : rounded(*Number, In.Of, In.Digits));
}

void MachineTable::write(RowFormat As, raw_ostream &OS) const {
  std::vector<RowColumn> Shown;
  for (const Column &C : Columns)
    Shown.push_back({(IsExact ? C.Key : C.Heading).str(), C.Of != 0});
  writeRows(std::move(Shown), Rows, As, OS);
}

static constexpr double Tera = 1e12, Giga = 1e9, GiB = 0x1p30, Percent = 1e4;

static constexpr Column DeviceColumns[] = {
    {"device", "device"},
    {"fitted_on", "fitted on"},
    {"peak_bf16", "bf16 TFLOP/s", Tera},
    {"peak_fp8", "fp8 TFLOP/s", Tera},
    {"peak_fp4", "fp4 TFLOP/s", Tera},
    {"memory", "memory GiB", GiB},
    {"memory_bandwidth", "memory GB/s", Giga},
    {"link_bandwidth", "link GB/s", Giga},
    {"uncertainty", "uncertainty %", Percent, 2},
    {"source", "source"}};

static constexpr Column ClusterColumns[] = {
    {"cluster", "cluster"},
    {"nodes", "nodes", 1},
    {"devices_per_node", "devices per node", 1},
    {"device", "device"},
    {"memory", "memory GiB", GiB},
    {"nics", "NICs", 1},
    {"nic_bandwidth", "NIC GB/s", Giga},
    {"tiers", "tiers"},
    {"source", "source"}};

static std::vector<const LibraryFile *> filesOf(StringRef Folder) {
  std::vector<const LibraryFile *> Files;
  for (const LibraryFile &F : libraryFiles())
    if (sys::path::parent_path(F.Path) == Folder)
      Files.push_back(&F);
  return Files;
}

/// The comment of a file with the source of its numbers.
static StringRef sourceOf(const LibraryFile &F) {
  return F.Text.split("\n# Source: ").second.split('\n').first;
}

/// A dense model on eight devices of \p Cluster, with \p Cost.
static CompiledJob &jobOn(Compiler &Session, const LibraryFile &Cluster,
                          const Twine &Cost = "") {
  constexpr StringLiteral Path = "list.fore";
  Session.setText(
      Path,
      formatv("import \"models/llama3-8b.fore\"\n"
              "import \"{0}\" as pod\n"
              "train {{ sequence = 8Ki  micro_batch = 1  global_batch = 64 }\n"
              "parallel {{ world = 8  tp = 4  sequence_parallel = true }\n"
              "cluster : pod {{ }\n{1}\n",
              Cluster.Path, Cost)
          .str());
  return Session.read(Path);
}

/// Adds the rates and the memory of the device that a profile was fitted on,
/// and the half-range of an estimate there.
static void addRates(MachineTable &To, const ir::Program &P) {
  const ir::ClusterSpec &On = *P.Spec.Cluster;
  To.add(*P.Spec.Cost.FittedOn);
  for (const Located<int64_t> *Rate :
       {&On.Device.PeakBf16, &On.Device.PeakFp8, &On.Device.PeakFp4,
        &On.Device.Memory, &On.Device.MemoryBandwidth,
        &On.Tiers.front().Bandwidth})
    To.add(*Rate);
  To.add(std::llrint(halfRange(P, estimateIteration(P)) * 1e6));
}

void listDevices(RowFormat As, bool IsExact, raw_ostream &OS) {
  Compiler Session({}, makeIntrusiveRefCnt<vfs::InMemoryFileSystem>());
  MachineTable Table(DeviceColumns, IsExact);
  for (const LibraryFile *Profile : filesOf("devices")) {
    const StringRef Device = sys::path::stem(Profile->Path);
    Table.beginRow();
    Table.add(Device);
    for (const LibraryFile *Cluster : filesOf("clusters")) {
      CompiledJob &Job = jobOn(Session, *Cluster,
                               "cost estimate { profile = " + Device + " }");
      const ir::Spec *S = Job.spec();
      const bool IsFitted = S && S->Cluster->Device.Name.isPresent() &&
                            S->Cost.FittedOn.isPresent() &&
                            *S->Cluster->Device.Name == *S->Cost.FittedOn;
      if (const ir::Program *P = IsFitted ? Job.program() : nullptr) {
        addRates(Table, *P);
        break;
      }
      Session.forget(Job);
    }
    Table.skipToLast();
    Table.add(sourceOf(*Profile));
  }
  Table.write(As, OS);
}

/// `nvlink 8 at 450 GB/s, leaf 256 at 50 GB/s`.
static std::string describeTiers(const ir::ClusterSpec &C) {
  std::string Text;
  for (const ir::TierSpec &T : C.Tiers) {
    Text +=
        (Text.empty() ? "" : ", ") + T.Name + " " + std::to_string(*T.Devices);
    if (T.Bandwidth.isPresent())
      Text += " at " + rounded(*T.Bandwidth, Giga) + " GB/s";
  }
  return Text;
}

void listClusters(RowFormat As, bool IsExact, raw_ostream &OS) {
  Compiler Session({}, makeIntrusiveRefCnt<vfs::InMemoryFileSystem>());
  MachineTable Table(ClusterColumns, IsExact);
  for (const LibraryFile *File : filesOf("clusters")) {
    CompiledJob &Job = jobOn(Session, *File);
    const ir::Program *P = Job.program();
    if (!P)
      report_fatal_error("the cluster " + File->Path + " is not legal");
    const ir::ClusterSpec &C = *P->Spec.Cluster;
    Table.beginRow();
    Table.add(sys::path::stem(File->Path));
    Table.add(C.Nodes);
    Table.add(C.DevicesPerNode);
    Table.add(C.Device.Name);
    Table.add(C.Device.Memory);
    Table.add(C.Nics);
    Table.add(C.NicBandwidth);
    Table.add(describeTiers(C));
    Table.add(sourceOf(*File));
    Session.forget(Job);
  }
  Table.write(As, OS);
}

} // namespace foretrace::driver
