// SPDX-License-Identifier: Apache-2.0
//
// Tasks as nodes of a Chakra execution trace, schema 1.0.0 (et_def.proto of
// mlcommons/chakra): messages of protocol buffers, each after its length.
#pragma once

#include "backends/chakra/ComputeRuns.h"
#include "backends/chakra/GroupNames.h"
#include "backends/chakra/Micros.h"
#include "ir/ranks/StageTasks.h"
#include "llvm/ADT/DenseMap.h"

namespace foretrace::chakra {

/// The bytes that are the same for all ranks of a stage, and where a rank's own
/// go. These are of the same size for all.
struct StageTrace {
  struct GroupPlace {
    size_t At;    ///< in Bytes
    size_t Which; ///< of Groups
  };
  struct PeerPlace {
    size_t At;
    size_t Which; ///< of Peers
  };

  std::string Bytes;
  std::vector<ir::Group> Groups;
  std::vector<ir::TaskPeer> Peers;
  std::vector<GroupPlace> GroupPlaces; ///< a name, in decimal
  std::vector<PeerPlace> PeerPlaces;   ///< a rank, four bytes, the lowest first

  /// Writes the trace of one rank.
  void write(int64_t Rank, const ir::RankMap &Map, const GroupNames &Names,
             llvm::raw_ostream &OS) const;
};

/// Where the line is that an op is for, `job.fore:12`; empty if nowhere.
using Provenance = llvm::DenseMap<const ir::Op *, std::string>;

/// Makes nodes of the tasks of a stage.
class NodeWriter {
public:
  /// Nodes name the lines they come from if \p Lines is given.
  NodeWriter(const ir::Program &P, const GroupNames &Names,
             const Provenance *Lines);

  void add(int64_t Id, const ir::Task &T);
  /// Adds computations as one node.
  void add(const ComputeRun &Run);
  /// Returns the finished trace; can be called once.
  StageTrace take() { return std::move(Out); }

private:
  class Message;

  void compute(llvm::ArrayRef<const ir::Op *> Ops, Message &Node);
  void add(int64_t Id, llvm::StringRef Name, const ir::Task &T,
           llvm::ArrayRef<const ir::Op *> Ops);
  void collective(const ir::Task &T, Message &Node);
  void message(const ir::Task &T, Message &Node);
  void provenance(const ir::Task &T, Message &Node);
  void append(const std::string &Message);

  const ir::Program &P;
  const GroupNames &Names;
  const Provenance *const Lines;
  const bool HasTimes;
  StageTrace Out;
  WholeMicros Micros; ///< of compute nodes
  // Offsets of per-rank fields from the end of a message.
  std::optional<size_t> GroupFromEnd, PeerFromEnd;
  size_t Which = 0;
};

} // namespace foretrace::chakra
