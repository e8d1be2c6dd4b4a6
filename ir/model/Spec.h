// SPDX-License-Identifier: Apache-2.0
//
// The fully resolved description of a training job: every name bound, every
// default applied, every derived value computed. It is what the frontend
// produces, what `elaborate` reads, and the first part of the IR's text form.
// The members are generated from ir/model/Spec.def, which also documents them.
#ifndef FORETRACE_IR_MODEL_SPEC_H
#define FORETRACE_IR_MODEL_SPEC_H

#include "ir/model/Attribute.h"
#include "ir/model/Cells.h"
#include "ir/model/Mesh.h"
#include "lang/Quantity.h"
#include "lang/Source.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace foretrace::ir {

enum class NormKind : unsigned char {
#define NORM_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};
enum class PositionKind : unsigned char {
#define POSITION_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};
enum class AttentionKind : unsigned char {
#define ATTENTION_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};
enum class ActivationKind : unsigned char {
#define ACTIVATION_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};
enum class PrecisionKind : unsigned char {
#define PRECISION_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};
enum class RecomputeKind : unsigned char {
#define RECOMPUTE_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};
enum class AttentionBackendKind : unsigned char {
#define ATTENTION_BACKEND_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};
enum class CpCommKind : unsigned char {
#define CP_COMM_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};
enum class OptimizerKind : unsigned char {
#define OPTIMIZER_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};
enum class ScheduleKind : unsigned char {
#define SCHEDULE_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};
enum class PartitionKind : unsigned char {
#define PARTITION_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};
enum class DispatcherKind : unsigned char {
#define DISPATCHER_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};
enum class AuxLossKind : unsigned char {
#define AUX_LOSS_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};
enum class BalanceKind : unsigned char {
#define BALANCE_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};
enum class RankOrderKind : unsigned char {
#define RANK_ORDER_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};
enum class MegatronVersion : unsigned char {
#define MEGATRON_VERSION(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};
enum class CostKind : unsigned char {
#define COST_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};
enum class TopologyKind : unsigned char {
#define TOPOLOGY_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};

// The types a field can have, under the names Spec.def uses.
using Int = int64_t;      // at least 1
using Natural = int64_t;  // at least 0
using ByteSize = int64_t; // byte, at least 1
using FlopRate = int64_t; // FLOP/s
using DataRate = int64_t; // byte/s
using Duration = int64_t; // ns
using Bool = bool;
using Text = std::string;

/// Bytes of one element.
int64_t bytesPerElement(PrecisionKind P);
/// Whether the first projection is twice as wide (gate and up).
bool isGated(ActivationKind A);

/// One kind of attention layer.
struct AttentionSpec {
#define ATTENTION_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
  SourceRange Range; ///< the whole section
};

/// A feed-forward network: dense, or one expert.
struct FfnSpec {
#define FFN_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
  SourceRange Range; ///< the whole section
};

/// What makes a block a mixture of experts.
struct MoeSpec {
#define MOE_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
  SourceRange Range; ///< the whole section
};

/// One kind of layer: attention, then either a dense network or experts.
struct BlockSpec {
  std::string Name;
  SourceRange Range; ///< of the name
  AttentionSpec Attention;
  FfnSpec Ffn;
  std::optional<MoeSpec> Moe;
#define BLOCK_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
};

/// A layer pattern, folded: `24 * (dense + moe)` is one run of 24 periods.
struct LayerRun {
  struct Item {
    unsigned Block; ///< index into ModelSpec::Blocks
    int64_t Count;
  };
  int64_t Periods = 1;
  std::vector<Item> Items; ///< what one period holds, in order; not empty
  SourceRange Range;
};

/// The model, not yet spread over ranks.
struct ModelSpec {
  std::string Name;
  SourceRange Range; ///< of the name
#define MODEL_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
  std::vector<BlockSpec> Blocks; ///< in order of declaration
  std::vector<LayerRun> Layers;
  SourceRange LayersRange; ///< of the pattern

  /// More are no model; so sums of a few numbers of layers can't wrap.
  static constexpr int64_t MaxLayers = int64_t(1) << 40;
  /// Layers of all runs; overflow is the frontend's to report.
  int64_t layerCount() const;
  /// The block of that name, or null.
  const BlockSpec *findBlock(llvm::StringRef Name) const;
};

/// How the model is trained.
struct TrainSpec {
#define TRAIN_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
};

/// What one device can do at best, and keep.
struct DeviceSpec {
#define DEVICE_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"

  /// Its rate in FLOP/s for a job of precision \p P: the one that is stated for
  /// any, else that for \p P; may be absent.
  const Located<FlopRate> &peakFor(PrecisionKind P) const;
};

/// Steps of a stage that begin together, from a schedule file.
struct ScheduleSteps {
  CellEntry Entry; ///< of steps only
  SourceRange Range;
};

/// How the job is spread over ranks.
struct ParallelSpec {
#define PARALLEL_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
  /// Explicit pipeline layout: the layers of each virtual stage in execution
  /// order (stage 0 chunk 0, stage 1 chunk 0, ...); empty for an even split.
  std::vector<Located<int64_t>> Layout;
  SourceRange LayoutRange;
  /// Of `schedule = file("...")`: what each stage runs, in order; else empty.
  std::vector<std::vector<ScheduleSteps>> Steps;

  /// Whether ZeRO shares among `dp_shard` of the replicas only, so that others
  /// hold the same shares (hybrid sharding, HSDP).
  bool isHybrid() const { return DpShard.isPresent() && *DpShard < *Dp; }
};

/// What messages along one axis of the mesh take.
struct LinkSpec {
  ir::Axis Axis = ir::Axis::Tp;
  SourceRange Range; ///< where it is declared
#define LINK_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
};

/// A measured time. Of `cost profile`, as AICB's AIOB names the sections of a
/// model; of `cost calibrated`, as ir/model/MeasuredTimes.def does.
struct ProfileTime {
  /// Above that it is a mistake, and sums of nanoseconds could overflow.
  static constexpr int64_t MaxSeconds = 1000;
  static constexpr double MaxMicroseconds = MaxSeconds * 1e6;

  std::string Section;
  double Microseconds; ///< 0 to MaxMicroseconds
  SourceRange Range;   ///< of the name
  SourceRange Value = {};

  /// In ns, rounded to the nearest: of \p Count things, if what was measured
  /// is the time \p Per so many.
  Nanoseconds nanoseconds(double Count = 1, double Per = 1) const;
};

/// Where compute times come from; they can never change communication.
struct CostSpec {
#define COST_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
  std::vector<ProfileTime> Profile; ///< in order of the file
  DeviceSpec Device;
  std::vector<LinkSpec> Links; ///< one for an axis

  /// The measured time called \p Name, or null.
  const ProfileTime *findTime(llvm::StringRef Name) const;
  /// The link along \p A, or null.
  const LinkSpec *findLink(Axis A) const;
};

/// One tier of a cluster's network: domains of equally many devices that lie
/// within one such domain of the next tier.
struct TierSpec {
  std::string Name;
  SourceRange Range; ///< of the name
#define TIER_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
};

/// The machine that the job runs on; analysis/ClusterMap.h says where ranks
/// stand.
struct ClusterSpec {
  std::string Name;  ///< may be empty
  SourceRange Range; ///< of the section
#define CLUSTER_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
  DeviceSpec Device;
  std::vector<TierSpec> Tiers; ///< innermost first; the last joins all devices

  /// Devices of all nodes; that they can be counted is the `derive` pass's to
  /// check.
  int64_t deviceCount() const { return *Nodes * *DevicesPerNode; }
};

/// An `emit NAME { ... }` block; the backend of that name checks the options.
struct EmitSpec {
  std::string Backend;
  SourceRange Range; ///< of the backend's name
  Attribute Options; ///< a Section

  /// A block that no job has, without options.
  static EmitSpec plain(llvm::StringRef Backend);
  /// Gives an option a value, in place of the one that it may have.
  void set(llvm::StringRef Name, Attribute::Kind K, llvm::StringRef Text);
};

/// The whole job.
struct Spec {
  // Defined in the source: whoever includes this header would compile them.
  Spec();
  Spec(const Spec &);
  Spec(Spec &&) noexcept;
  Spec &operator=(const Spec &);
  Spec &operator=(Spec &&) noexcept;
  ~Spec();

  ModelSpec Model;
  TrainSpec Train;
  ParallelSpec Parallel;
  CostSpec Cost;
  std::optional<ClusterSpec> Cluster;
  std::vector<EmitSpec> Emits;

  /// What the backward pass computes again of layers of \p B, and where that
  /// is said: by the block itself, else by `train`.
  const Located<RecomputeKind> &recomputeOf(const BlockSpec &B) const;
  /// Whether what they keep is in the memory of the host, and where that is
  /// said.
  const Located<Bool> &offloadOf(const BlockSpec &B) const;
  /// What `cost roofline` reckons with: the rate for the training precision and
  /// the memory bandwidth that `cost` states, else those of the cluster's
  /// device. Both may be absent.
  DeviceSpec rooflineDevice() const;
};

} // namespace foretrace::ir

#endif
