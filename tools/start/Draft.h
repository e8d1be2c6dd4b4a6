// SPDX-License-Identifier: Apache-2.0
//
// A new job in the making. Private to tools/start.
#pragma once

#include "analysis/DeviceMemory.h"
#include "tools/start/LayoutSearch.h"
#include "tools/start/NewJob.h"

namespace foretrace::start {

/// A layout with figures of its job.
struct MeasuredLayout {
  FoundLayout Of;
  int64_t Peak;
  std::optional<int64_t> Time, Upper; ///< unless the device has no profile
};

struct RegionResult; // LayoutSweep.h

class Draft {
public:
  explicit Draft(NewJobRequest Request) : R(std::move(Request)) {}

  llvm::Expected<NewJob> make();
  llvm::Expected<NewJob> makeServer();

private:
  llvm::Expected<NewJob> finishServer(const RegionResult &Of, int64_t World);
  // Inputs.
  llvm::Error readCluster();
  llvm::Error readJob();
  std::string modelText() const;
  OpenJob openJob(int64_t World) const;
  OpenJob openServer(int64_t World);
  std::string clusterText(int64_t World) const;
  // Its layout.
  llvm::Error nothingFits(const MeasuredLayout &Least) const;
  llvm::Expected<MeasuredLayout> measure(const FoundLayout &L) const;
  llvm::Expected<LayoutRanking> search(bool &Fits);
  llvm::Expected<LayoutRanking> searchWorlds(bool &Fits);
  std::vector<MeasuredLayout> firstOf(const LayoutRanking &Of) const;
  // Its text.
  std::string why(const LayoutAxes &Axes, const MeasuredLayout &Best) const;
  std::string reason(const LayoutRanking &Of,
                     llvm::ArrayRef<MeasuredLayout> First, bool Fits) const;
  std::string section(llvm::StringRef Keyword, const FoundLayout &Of) const;
  std::string commentOf(llvm::StringRef Key, const FoundLayout &Of) const;
  std::string finish(const LayoutRanking &Of,
                     llvm::ArrayRef<MeasuredLayout> First, bool Fits) const;

  std::string serverText(const FoundLayout &Of, int64_t World,
                         llvm::StringRef Reason) const;

  std::optional<DeviceMemory> memory() const {
    return Spec.Cluster ? deviceMemoryOf(Spec.Cluster->Device) : std::nullopt;
  }
  bool hasMemory() const { return memory().has_value(); }

  NewJobRequest R;
  std::optional<ir::ClusterSpec> Machine; ///< of the request
  ir::Spec Spec;                          ///< of the job without a layout
  std::vector<std::string> Assumed;       ///< keys that it lacks
};

/// Returns the keys of \p Of that differ from their defaults, `parallel.tp=4`.
std::vector<std::string> setKeys(const FoundLayout &Of);
/// Returns what \p To sets otherwise than \p From, for people: `tp = 4, without
/// cuda_graphs`.
std::string differences(const FoundLayout &From, const FoundLayout &To);
/// Returns `  block moe { dispatcher = flex }`, or `  hidden = 64`; empty for a
/// key of another section than `model`.
std::string keyOfModel(llvm::StringRef Override);
/// Returns the default global batch on \p World ranks.
int64_t usualBatch(int64_t World);
/// Returns the keys of \p S that neither the search chooses nor \p Overrides
/// set, as lines.
std::string keptKeys(const importers::SectionText &S,
                     llvm::ArrayRef<std::string> Overrides);

} // namespace foretrace::start
