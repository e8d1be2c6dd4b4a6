// SPDX-License-Identifier: Apache-2.0
//
// The resolved description of a job, with all defaults and derived
// values; the IR's text form begins with it. Its members are generated from
// ir/model/Spec.def, which also documents them.
#pragma once

#include "ir/model/Attribute.h"
#include "ir/model/Cells.h"
#include "ir/model/Dims.h"
#include "ir/model/LayerUse.h"
#include "ir/model/Mesh.h"
#include "lang/Quantity.h"
#include "lang/Source.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace foretrace::ir {

#define SPEC_KIND(TYPE, ...) enum class TYPE : unsigned char { __VA_ARGS__ };
#define SPEC_ENUM(TYPE, ENUMERATOR, SPELLING) ENUMERATOR,
#define PRECISION_KIND(...)
#define TYPE_KIND(...)
#define OPTIMIZER_KIND(...)
#define SCHEDULE_KIND(...)
#include "ir/model/Spec.def"
enum class PrecisionKind : unsigned char {
#define PRECISION_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
#include "ir/model/Spec.def"
};
enum class TypeKind : unsigned char {
#define TYPE_KIND(ENUMERATOR, SPELLING) ENUMERATOR,
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

/// Returns whether layers are recomputed as a whole, at most without the ops
/// whose results are saved, and not by modules.
inline bool recomputesLayers(RecomputeKind K) {
  return K == RecomputeKind::Op || K == RecomputeKind::Full;
}

// The types a field can have, under the names Spec.def uses.
using Int = int64_t;       // at least 1
using Natural = int64_t;   // at least 0
using Fraction = int64_t;  // millionths, 1 to 1,000,000
using PerSecond = int64_t; // millionths, at least 1
using ByteSize = int64_t;  // byte, at least 1
using FlopRate = int64_t;  // FLOP/s
using DataRate = int64_t;  // byte/s
using NetworkRate = DataRate;
using Duration = int64_t; // ns
using Bool = bool;
using Text = std::string;
using RoutingText = std::string; // ir/model/Routing.h
using TraceText = std::string;   // ir/model/RequestTrace.h
using AcceptanceText = std::string; // DraftSpec::acceptances

/// A block of the model: attention, or what is in its place, and a network.
struct BlockSpec {
  static constexpr size_t MaxLayerKeys = 256; ///< of both of its layers
  static constexpr llvm::StringLiteral Implicit = "layer"; ///< if undeclared

  std::string Name;
  SourceRange Range; ///< of the name
  LayerUse Mixer, Network;
  /// Values besides the hidden state that its layers receive from the layer
  /// before and pass to the layer after, by name; set by `derive`.
  std::vector<std::string> Receives, Passes;
  /// Whether its layers are the first of their chunks, which save what they
  /// receive; set by `derive`.
  bool IsEntry = false;
  /// Names of weights that its layers share with others (`shared NAME { ...
  /// }`), that another layer of the rank has, that another stage has first, and
  /// whose gradients are summed over stages; set by `derive`.
  std::vector<std::string> Shares, Aliases, Copies, Sums;
  /// Returns whether its layers are of a tower.
  bool isOfTower() const;
#define BLOCK_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
};

/// Returns the number of experts of a block whose tokens `routing` spreads, or
/// null: of a layer of the library with experts that have no capacity.
const Located<int64_t> *routedExperts(const BlockSpec &B);

/// A layer pattern, folded: `24 * (dense + moe)` is one run of 24 periods.
struct LayerRun {
  struct Item {
    unsigned Block; ///< index into ModelSpec::Blocks
    int64_t Count;
  };
  int64_t Periods = 1;
  std::vector<Item> Items; ///< one period, in order; not empty
  SourceRange Range;
};

/// Layers after those of the model, which end in a loss of their own:
/// multi-token prediction.
struct BranchSpec {
  /// Index into ModelSpec::Blocks, of a block without a network. Its mixer is
  /// what comes before the layers, with the keys `depths` and `shared`.
  unsigned Block = 0;
  std::vector<LayerRun> Layers; ///< of one depth
  SourceRange LayersRange;

  /// Upper bound of the layers of all depths, which are ops of one block.
  static constexpr int64_t MaxLayers = 32;
  /// Returns whether the layers of so many depths are within it.
  bool isWithin(int64_t Depths) const;
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
  std::optional<BranchSpec> Branch;

  /// Upper bound of layers: sums of a few numbers of layers cannot wrap.
  static constexpr int64_t MaxLayers = int64_t(1) << 40;
  /// Returns the layers of all runs; the frontend reports overflow.
  int64_t layerCount() const;
  /// Returns the layers at the start of the pattern that are of a tower; 0 if
  /// all are.
  int64_t towerLayers() const;
  /// Returns the number of the other layers, which stages share.
  int64_t splitLayers() const { return layerCount() - towerLayers(); }
  /// Returns the block of that name, or null.
  const BlockSpec *findBlock(llvm::StringRef Name) const;
  /// Returns the indices of all blocks. If layers pass values besides the
  /// hidden state, those that make a value precede those that read it.
  std::vector<unsigned> blocksInOrder() const;
  /// Returns whether the end of the model reads the table of words, too: a tied
  /// head, or a branch.
  bool hasTableAtEnd() const { return Branch || *Tied; }
  /// Returns the number of blocks after the layers: the head, and a branch.
  int64_t blocksAtEnd() const { return Branch ? 2 : 1; }
  /// Returns the keys of the branch; null without one.
  const LayerUse *branch() const {
    return Branch ? &Blocks[Branch->Block].Mixer : nullptr;
  }
};

/// Training of the model.
struct TrainSpec {
#define TRAIN_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
};

/// Peak rates and memory of a device.
struct DeviceSpec {
#define DEVICE_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"

  /// Returns its rate in FLOP/s for a job of precision \p P: the rate for any
  /// precision, else that for \p P; may be absent.
  const Located<FlopRate> &peakFor(PrecisionKind P) const;
  /// A key of a peak rate.
  struct Peak {
    Located<FlopRate> DeviceSpec::*Member;
    llvm::StringLiteral Key, Example;
  };
  /// Returns the key of the peak rate for products in type \p T, which
  /// `rooflineDevice` sets.
  static const Peak &peakOf(TypeKind T);
};

/// Steps of a stage that begin together, from a schedule file.
struct ScheduleSteps {
  CellEntry Entry; ///< of steps only
  SourceRange Range;
};

/// Parallelism of the job.
struct ParallelSpec {
#define PARALLEL_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
  /// Explicit pipeline layout: the layers of each virtual stage in execution
  /// order (stage 0 chunk 0, stage 1 chunk 0, ...); empty for an even split.
  std::vector<Located<int64_t>> Layout;
  SourceRange LayoutRange;
  /// For `schedule = file("...")`: the steps of each stage, in order; else
  /// empty.
  std::vector<std::vector<ScheduleSteps>> Steps;

  /// Returns whether ZeRO shards only among `dp_shard` replicas, so that other
  /// replicas have the same shards (hybrid sharding, HSDP).
  bool isHybrid() const { return DpShard.isPresent() && *DpShard < *Dp; }
};

/// The requests that a job serves.
struct RequestsSpec {
  SourceRange Range; ///< of the section
#define REQUESTS_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
};

/// An engine that serves the model: all instances of one kind.
struct ServeSpec {
  std::string Name; ///< `prefill`, `decode`; may be empty
  SourceRange Range; ///< of the section
  /// Name of the engine of the job to or from which caches move; empty without
  /// one. It is no part of the text form.
  std::string Peer;
#define SERVE_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"

  /// Returns whether rules of vLLM hold, as for an engine without rules.
  bool isLikeVLLM() const {
    return *Engine == EngineKind::VLLM || *Engine == EngineKind::Generic;
  }
};

/// Speculation of an engine: how many tokens are proposed, and by what.
struct DraftSpec {
  SourceRange Range; ///< of the section
#define DRAFT_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"

  /// Reads `acceptance`, blanks between millionths; nothing if it is no such
  /// text.
  static std::optional<std::vector<int64_t>> acceptances(llvm::StringRef Text);
};

/// Adapters of low rank that an engine holds beside the weights.
struct LoraSpec {
  SourceRange Range; ///< of the section
#define LORA_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
};

/// The time of messages along one axis of the mesh.
struct LinkSpec {
  ir::Axis Axis = ir::Axis::Tp;
  SourceRange Range; ///< where it is declared
#define LINK_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
};

/// A measured time. For `cost profile` it has the name of a section in AICB's
/// AIOB, for `cost calibrated` a name of ir/model/MeasuredTimes.def.
struct ProfileTime {
  /// Upper bound; a larger value is a mistake, and sums of nanoseconds could
  /// overflow.
  static constexpr int64_t MaxSeconds = 1000;
  static constexpr double MaxMicroseconds = MaxSeconds * 1e6;

  std::string Section;
  double Microseconds; ///< 0 to MaxMicroseconds
  SourceRange Range;   ///< of the name
  SourceRange Value = {};

  /// Returns the time in ns, rounded to the nearest, for \p Count things, if
  /// the measured time is for \p Per things.
  Nanoseconds nanoseconds(double Count = 1, double Per = 1) const;
};

/// The rows of ir/model/KernelParameters.def.
enum class KernelParameterId : unsigned char {
#define KERNEL_PARAMETER(ENUMERATOR, ...) ENUMERATOR,
#include "ir/model/KernelParameters.def"
};
struct KernelParameterInfo {
  llvm::StringLiteral Name;
  double Least, Most;
  std::optional<double> Default;
  llvm::StringLiteral Doc;
};
/// By id.
llvm::ArrayRef<KernelParameterInfo> kernelParameters();
const KernelParameterInfo &getInfo(KernelParameterId Id);
/// Returns the parameter called \p Name, `product.bf16.efficiency`.
std::optional<KernelParameterId> findKernelParameter(llvm::StringRef Name);

/// The value of a parameter.
struct KernelParameter {
  KernelParameterId Id = {};
  double Value = 0;
  SourceRange Range = {}; ///< of the name
  SourceRange At = {};    ///< of the value
};

/// The source of compute times, which never affects communication.
struct CostSpec {
#define COST_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
  std::vector<ProfileTime> Profile; ///< in order of the file
  /// Parameters of `cost estimate`, of the device's profile and of the job.
  std::vector<KernelParameter> Kernels;
  DeviceSpec Device;
  std::vector<LinkSpec> Links; ///< at most one per axis

  /// Returns the measured time called \p Name, or null.
  const ProfileTime *findTime(llvm::StringRef Name) const;
  /// Returns the value of the parameter: that of the job or profile, or its
  /// default; nothing if it has none.
  std::optional<double> kernel(KernelParameterId Id) const;
  /// Returns the link along \p A, or null.
  const LinkSpec *findLink(Axis A) const;
  /// Returns what durations are, "lower bounds: ..."; empty if measured.
  std::string describeDurations() const;
};

/// Domains of equal size, each within one domain of the next tier.
struct TierSpec {
  std::string Name;
  SourceRange Range; ///< of the name
#define TIER_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
};

/// The machine that the job runs on; analysis/ClusterMap.h places its ranks.
struct ClusterSpec {
  std::string Name;  ///< may be empty
  SourceRange Range; ///< of the section
#define CLUSTER_FIELD(TYPE, MEMBER, ...) Located<TYPE> MEMBER;
#include "ir/model/Spec.def"
  DeviceSpec Device;
  std::vector<TierSpec> Tiers; ///< innermost first; the last joins all devices

  /// Returns the devices of all nodes, which `derive` checks for overflow.
  int64_t deviceCount() const { return *Nodes * *DevicesPerNode; }
  int64_t domainSize() const; ///< of NVLink: the innermost tier, or a node
};

/// An `emit NAME { ... }` block; the backend of that name checks the options.
struct EmitSpec {
  std::string Backend;
  SourceRange Range; ///< of the backend's name
  Attribute Options; ///< a Section

  /// Creates a block without options that is not part of a job.
  static EmitSpec plain(llvm::StringRef Backend);
  /// Sets an option, replacing an existing value.
  void set(llvm::StringRef Name, Attribute New);
  void set(llvm::StringRef Name, Attribute::Kind K, llvm::StringRef Text);
  /// Sets an option to true.
  void setFlag(llvm::StringRef Name);
};

/// The whole job.
struct Spec {
  Spec();
  Spec(const Spec &);
  Spec(Spec &&) noexcept;
  Spec &operator=(const Spec &);
  Spec &operator=(Spec &&) noexcept;
  ~Spec();

  ModelSpec Model;
  TrainSpec Train;
  ParallelSpec Parallel;
  /// Both are there if the job serves. A step of serving is the forward pass of
  /// a micro-batch, whose keys `derive` sets in Train.
  std::optional<RequestsSpec> Requests;
  std::optional<ServeSpec> Serve;
  std::optional<DraftSpec> Draft; ///< of Serve
  std::optional<LoraSpec> Lora;   ///< of Serve
  CostSpec Cost;
  std::optional<ClusterSpec> Cluster;
  std::vector<EmitSpec> Emits;
  /// Dimensions that the job's files declare, beside those of Dims.def.
  std::vector<DimInfo> Dims;
  /// The kinds of layers that the job's files define, which outlive the spec;
  /// no part of the text form.
  std::vector<const layers::Layer *> Layers;

  /// Returns the types in which products of the job and of single blocks are
  /// computed, that of the job first.
  std::vector<TypeKind> computeTypes() const;
  /// Returns the type in which products of layers of \p B are computed.
  TypeKind computeTypeOf(const BlockSpec &B) const;
  /// Returns what the backward pass recomputes of layers of \p B, and where
  /// that is set: in the block, else in `train`.
  const Located<RecomputeKind> &recomputeOf(const BlockSpec &B) const;
  /// Returns whether their saved activations are offloaded, and where set.
  const Located<Bool> &offloadOf(const BlockSpec &B) const;
  /// Returns the device of `cost roofline`: the rate for the training precision
  /// and the memory bandwidth that `cost` sets, else those of the cluster's
  /// device. Both may be absent.
  DeviceSpec rooflineDevice() const;
};

} // namespace foretrace::ir
