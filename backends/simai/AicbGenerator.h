// SPDX-License-Identifier: Apache-2.0
//
// Writes what the public generator writes: rows and messages (AicbRows.cpp),
// and the table that they make (Aicb.cpp). Private to Aicb*.cpp.
#pragma once

#include "backends/aicb/AicbJob.h"
#include "backends/simai/AicbTimes.h"
#include "backends/simai/Table.h"

namespace foretrace::simai {

/// Communication of one column of a row.
struct AicbMessage {
  simai::Comm Comm = Comm::None;
  Bytes Size;
  CellGroup Group = CellGroup::Column;
  bool IsFloat = false;
};

/// RowTimes of the three columns, ns.
struct ColumnTimes {
  int64_t Forward = 1, Backward = 1, Update = 1;
};

class AicbGenerator {
public:
  AicbGenerator(const ir::Spec &S, aicb::Version V)
      : J(aicb::GeneratorJob::of(S, V)), P(aicb::countParams(J)),
        T(groupTimes(S, J)), Activation(aicb::activationBytes(J)) {}

  WorkloadTable run();
  bool hasOverflown() const { return Overflown; }

private:
  Header header() const;
  std::vector<WorkloadRow> gradients();
  WorkloadRow embedding(int64_t Carried);
  std::vector<WorkloadRow> layer(bool HasExperts);
  void attention(std::vector<WorkloadRow> &Rows);
  void latentAttention(std::vector<WorkloadRow> &Rows);
  void mlp(std::vector<WorkloadRow> &Rows);
  void experts(std::vector<WorkloadRow> &Rows);
  void fiveExpertRows(std::vector<WorkloadRow> &Rows);
  void sevenExpertRows(std::vector<WorkloadRow> &Rows);
  std::vector<WorkloadRow> afterLayers();
  std::vector<WorkloadRow> afterMicroBatches();
  WorkloadPart microBatch(WorkloadTable &Out, int64_t Carried, int64_t Repeat);
  int64_t leftOver() const;

  WorkloadRow row(llvm::StringRef Name, ColumnTimes Ns,
                  const AicbMessage &Forward, const AicbMessage &Backward = {},
                  const AicbMessage &Update = {});
  void fill(WorkloadCell &C, int64_t Time, const AicbMessage &M);
  WorkloadRow column(llvm::StringRef Name, ColumnTimes Ns, Bytes ForwardSize);
  WorkloadRow rowParallel(llvm::StringRef Name, ColumnTimes Ns,
                          Bytes ForwardSize);
  WorkloadRow whole(llvm::StringRef Name, int64_t Ns, Bytes ForwardSize);
  AicbMessage tensorParallel(Comm C, Bytes Size) const;
  AicbMessage expertParallel() const;
  AicbMessage dispatch() const;

  bool zeroesSilence() const {
    return J.Timed && J.Version == aicb::Version::V2025_12;
  }
  /// The activation once per chosen expert.
  Bytes copies() const { return Activation * J.TopK; }
  /// Forward bytes of attention, which untimed tables double to recompute.
  Bytes attentionSize() const {
    return !J.Timed && J.Recompute ? Activation * 2 : Activation;
  }
  /// A block's time is shared by its column and its row.
  ColumnTimes half(int64_t Ns, bool Recomputed = false) const {
    if (!J.Timed)
      return {};
    return {Recomputed ? Ns : Ns / 2, Ns / 2, Ns / 2};
  }

  const aicb::GeneratorJob J;
  const aicb::Params P;
  const AicbTimes T;
  const Bytes Activation; ///< 2 b s h
  bool Overflown = false;
};

} // namespace foretrace::simai
