// SPDX-License-Identifier: Apache-2.0
//
// The one representation between the frontend and the backends. A Program is
// a set of tables with typed ids; passes fill them level by level:
//
//   spec      what the user wrote, resolved                   (Spec.h)
//   model     blocks of ops on whole tensors, layers folded   elaborate,
//                                                             differentiate
//   spmd      one rank's view: layouts and collectives        shard, recompute
//   schedule  what each pipeline stage holds and runs         stages, sync
//
// Nothing here grows with layers, micro-batches or ranks: a block stands for
// all layers like it, a stage for all stages like it, with counts.
#pragma once

#include "ir/model/Dims.h"
#include "ir/model/Expr.h"
#include "ir/model/Facts.h"
#include "ir/model/Group.h"
#include "ir/model/Ids.h"
#include "ir/model/Mesh.h"
#include "ir/model/Messages.h"
#include "ir/model/Ops.h"
#include "ir/model/Routing.h"
#include "ir/model/Schedule.h"
#include "ir/model/Service.h"
#include "ir/model/Signature.h"
#include "ir/model/Spec.h"
#include "lang/Diagnostic.h"
#include "lang/Quantity.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ErrorHandling.h"
#include <string>
#include <vector>

namespace foretrace::ir {

/// A logical dimension with its extent before any split.
struct Dim {
  DimKind Kind;
  ExprId Size;
  friend bool operator==(const Dim &A, const Dim &B) {
    return A.Kind == B.Kind && A.Size == B.Size;
  }
};

enum class ElementType : unsigned char {
#define ELEMENT_TYPE(ENUMERATOR, ...) ENUMERATOR,
#include "ir/model/ElementTypes.def"
};

/// A type of ir/model/ElementTypes.def.
struct ElementInfo {
  enum class Class : unsigned char {
    Float,
    Scaled, ///< with scales for several elements each
    Other,  ///< without gradients, such as tokens and masks
  };
  llvm::StringLiteral Name;
  Class Is;
  int64_t Bits; ///< of an element, without scales
  /// Numbers of elements that share a scale; 0 if there is one for the tensor.
  int64_t Block, WeightBlock;
  int64_t ScaleBytes;
};
const ElementInfo &getInfo(ElementType T);
inline llvm::StringRef getName(ElementType T) { return getInfo(T).Name; }
/// Returns the bytes of an element of a type without scales of its own.
int64_t bytesPerElement(ElementType T);
/// Returns the type with that name: those of keys come first, in one order.
template <typename KindT> ElementType elementTypeOf(KindT K) {
  return static_cast<ElementType>(K);
}
/// Returns whether values of the type have gradients.
inline bool isFloat(ElementType T) {
  return getInfo(T).Is != ElementInfo::Class::Other;
}
inline bool isScaled(ElementType T) {
  return getInfo(T).Is == ElementInfo::Class::Scaled;
}

/// A tensor over all ranks of a stage: element type and global extents.
struct TensorType {
  ElementType Element = ElementType::BF16;
  llvm::SmallVector<Dim, 4> Dims;

  /// Index of the dimension of this kind, or -1: the first, of those that no
  /// axis splits (canRepeat).
  int indexOf(DimKind K) const;
  /// Returns whether it belongs to routed experts, so that its ranks are seen
  /// as etp x ep x edp instead of tp x cp x dp.
  bool isOfExperts() const;
};

enum class ValueKind : unsigned char {
  Input,      ///< from the previous block, or from the data loader
  Param,      ///< a learned parameter
  Activation, ///< result of a forward op
  Gradient,   ///< of the value GradientOf
};

/// An SSA value of a block.
struct Value {
  ValueKind Kind = ValueKind::Activation;
  std::string Name; ///< unique in the block; a parameter's Megatron-LM name
  TensorType Type;
  ir::Layout Layout;  ///< all Whole before `shard`
  ElementExpr OnRank; ///< elements on one rank; set by `measure`
  /// For a gradient, the value it belongs to.
  ValueId GradientOf;
  /// For a parameter: it shares storage with the embedding table.
  bool Tied = false;
  /// For a parameter: it is another one of the same rank, with the same storage
  /// and gradient.
  bool Alias = false;
  /// For a parameter: a copy of a parameter of another stage, which the
  /// published model does not count.
  bool Copy = false;
  /// For a parameter: all stages have the same weights, and sum their
  /// gradients.
  bool Shared = false;
  /// For a parameter: it is not trained, and has no gradient.
  bool Frozen = false;
  /// For a parameter: the type in which ZeRO gathers it, if that is not its
  /// own.
  std::optional<ElementType> Gathered;
  /// For an input or output of a block besides the hidden state: it depends on
  /// nothing that is trained, and has no gradient.
  bool Detached = false;
  /// For a parameter: the part of the model that reports count it in, as set in
  /// the text of its layer; empty if none is set. Lives as long as that text.
  llvm::StringRef Part;
};

/// Which derivative of an op a backward op computes.
enum class Derivative : unsigned char {
  None,  ///< the op itself
  Input, ///< printed `.dgrad`
  Param, ///< printed `.wgrad`
};
/// Returns the suffix of the op in the text form: "", ".dgrad" or ".wgrad".
llvm::StringRef getSuffix(Derivative D);

enum class Phase : unsigned char {
  Forward,
  Recompute, ///< forward again, at the start of the layer's backward
  Backward,
  Step, ///< once per iteration, after the last micro-batch
};
llvm::StringRef getName(Phase P);

/// The origin of an op: the line of the job for which it exists, the pass that
/// created it, and the rule in that pass. `foretrace explain` reads it. The
/// texts live as long as the run: they are literals or parts of a source
/// buffer.
struct Origin {
  SourceRange Range;
  llvm::StringRef Pass;
  llvm::StringRef Rule;
};

/// One operation. A collective has one operand and one result.
struct Op {
  OpKind Kind;
  ir::Derivative Derivative = ir::Derivative::None;
  ir::Phase Phase = ir::Phase::Forward;
  std::string Name; ///< Megatron-LM module it stands for, "linear_qkv"
  llvm::SmallVector<ValueId, 3> Operands;
  llvm::SmallVector<ValueId, 2> Results;
  ir::Group Group; ///< of a collective; empty for compute
  /// For a collective: the compute op that needs it. For a backward or
  /// recomputed op: the forward op it derives from.
  OpId For;
  /// The number that the layer's text states about the work of the op, with the
  /// meaning that its WorkRule defines; invalid if there is none.
  ExprId Stated;
  /// For a product: it is computed in `compute_precision`. For an activation
  /// function: its input is saved in `activation_precision`.
  bool IsLowPrecision = false;
  /// The innermost module of a forward op; invalid if it has none.
  ModuleId Module;
  ByteExpr Message; ///< of a collective; set by `measure`
  /// The only chunk whose gradients or parameters a collective of the step
  /// concerns, if the stage has several.
  std::optional<int64_t> Chunk;
  /// The messages of a collective, if it does not send a single one.
  MessageList Messages;
  FlopExpr Work;    ///< FLOPs on one rank; set by `analyze`
  ByteExpr Touched; ///< memory traffic on one rank; set by `traffic`
  /// Time on one rank; set by `cost`, 0 when uncosted.
  Nanoseconds Time;
  /// Part of Time that other ops of the step or iteration overlap, so that it
  /// delays nothing; set by `cost`.
  Nanoseconds Hidden;
  TimeExpr Law, HiddenLaw; ///< the expressions of both with `cost estimate`
  ir::Origin Origin;

  /// Returns the time that the op adds to its step.
  Nanoseconds exposed() const {
    return Hidden == Nanoseconds() ? Time
                                   : Nanoseconds(Time.value() - Hidden.value());
  }
};

/// Forward ops of a block that `recompute_modules` selects by one name, as the
/// text of a layer groups them.
struct Module {
  llvm::StringRef Name; ///< lives as long as the text of the layer
  ModuleId Parent;      ///< that encloses it; invalid if none does
  /// The value up to which recomputed results replace all saved ones
  /// (Megatron-LM, tensor_parallel.CheckpointWithoutOutput). If it is invalid,
  /// the results of the module are saved, and only its own backward ops read
  /// recomputed values (tensor_parallel.checkpoint).
  ValueId Until;
};

/// Bytes of messages among one kind of group.
struct GroupBytes {
  Group Of;
  ByteExpr Size;
};

/// Totals of one layer of a block (ir/model/Totals.def); set by `analyze`.
struct BlockTotals {
#define TOTAL(MEMBER, TYPE, WORD, DOC) TYPE MEMBER;
#include "ir/model/Totals.def"
  /// Messages of a micro-batch, as defined by `messageBytes`, in the order of
  /// first use.
  std::vector<GroupBytes> Messages;
};

/// A straight-line program of one kind of layer, the embedding, the output
/// head, or a stage's step. Ops are in execution order, forward first.
struct Block {
  std::string Name; ///< unique: "embedding", "dense", "moe", "head"
  SourceRange Range;
  ir::Signature Signature;         ///< empty for a stage's step
  Table<ModuleId, Module> Modules; ///< parents first
  Table<ValueId, Value> Values;
  Table<OpId, Op> Ops;
  BlockTotals Totals;
  /// The experts of a token, if nodes and ranks get one copy of it for all of
  /// them.
  std::optional<TokenChoice> Copies = {};
};

/// `Count` consecutive layers of one block.
struct BlockRun {
  BlockId Block;
  int64_t Count = 1;
  friend bool operator==(const BlockRun &A, const BlockRun &B) {
    return A.Block == B.Block && A.Count == B.Count;
  }
};

/// A folded sequence of layers: `Periods` times the runs of one period.
struct LayerGroup {
  int64_t Periods = 1;
  llvm::SmallVector<BlockRun, 2> Runs;
  friend bool operator==(const LayerGroup &A, const LayerGroup &B) {
    return A.Periods == B.Periods && A.Runs == B.Runs;
  }
};
using LayerSequence = std::vector<LayerGroup>;

/// Returns the number of layers of a sequence, including embedding and head.
int64_t layerCount(const LayerSequence &S);

/// `Count` consecutive model chunks of a stage with the same layers.
struct ChunkRun {
  LayerSequence Layers;
  int64_t Count = 1;
};

/// Totals of each stage of one kind on one rank (ir/model/Totals.def); set by
/// `total`.
struct StageTotals {
#define STAGE_TOTAL(MEMBER, TYPE, WORD, DOC) TYPE MEMBER;
#include "ir/model/Totals.def"
  /// Messages of an iteration, as defined by `messageBytes`. Messages to other
  /// stages are counted at the sender.
  std::vector<GroupBytes> Messages;
};

/// All consecutive pipeline stages [First, First + Count) that contain the same
/// layers in the same chunks.
struct Stage {
  int64_t First = 0;
  int64_t Count = 1;
  std::vector<ChunkRun> Chunks; ///< in chunk order, vpp in all
  BlockId Step; ///< gradient synchronisation and update; set by `sync`
  bool ReceivesForward = false; ///< it does not contain the embedding
  bool SendsForward = false;    ///< it does not contain the head
  StageTotals Totals;

  /// Returns the layers of the \p Chunk-th model chunk, from 0, which must
  /// exist.
  const LayerSequence &layersOf(int64_t Chunk) const;
};

/// Returns the element of \p Stages that represents stage \p Index.
const Stage &stageAt(llvm::ArrayRef<Stage> Stages, int64_t Index);

/// The level of a program.
enum class Level : unsigned char { Spec, Model, SPMD, Schedule };
llvm::StringRef getName(Level L);
/// Returns the level of a program with these facts.
Level levelOf(FactSet Facts);
/// Reports facts whose prerequisites are missing, or that no program of level
/// \p L has. Returns whether there are none.
bool checkLevel(Level L, FactSet Facts, DiagnosticEngine &Diags);

/// A check of the numbers of a job by `derive`; checks are in order.
struct Check {
  enum class Kind : unsigned char {
    /// It determines the structure. Jobs with the same decisions and the same
    /// keys have the same program except for the values of its sizes.
    Decision,
    Condition, ///< must hold: be above zero
    Existence, ///< must have a value
  };
  Kind Is;
  ExprId Of;
  int64_t Decided = 0;    ///< the result of a decision
  diag::Id Reported = {}; ///< reported if the check fails
  /// The number to blame if the check fails, if there is one.
  std::optional<Key> Blamed = std::nullopt;

  /// Returns whether a job for which it has \p Value proceeds to the next
  /// check.
  bool passes(int64_t Value) const {
    switch (Is) {
    case Kind::Decision:
      return Value == Decided;
    case Kind::Condition:
      return Value > 0;
    case Kind::Existence:
      return Value != NoValue;
    }
    llvm_unreachable("every kind is handled");
  }
};

/// A whole compilation unit.
struct Program {
  // Out of line, so that users of this header do not compile them.
  Program();
  Program(const Program &);
  Program(Program &&) noexcept;
  Program &operator=(const Program &);
  Program &operator=(Program &&) noexcept;
  ~Program();

  ir::Spec Spec;
  /// The spec as it was stated, before `derive`; null of text.
  std::shared_ptr<const ir::Spec> Stated;
  FactSet Facts; ///< facts that the passes so far have established
  ir::Mesh Mesh;
  ExprTable Sizes; ///< extents, counts and sizes of this program
  /// Checks up to the first that fails, after which the job is refused; empty
  /// for a program that was read from text.
  std::vector<Check> Checks;
  Table<BlockId, Block> Blocks;
  /// The embedding, layers and head, in order, from the model level on.
  LayerSequence Layers;
  std::vector<Stage> Stages;
  ir::Schedule Schedule; ///< once Fact::Scheduled holds
  CacheCapacity Capacity;
  std::optional<ServiceLaws> Service; ///< of a job with `cost estimate`

  Level level() const { return levelOf(Facts); }
};

/// Returns the elements and bytes of \p V on one rank; overflow if its layout
/// does not divide its extents.
inline Elements elementsPerRank(const Program &P, const Value &V) {
  return P.Sizes.value(V.OnRank);
}
Bytes bytesPerRank(const Program &P, const Value &V);

/// Returns the size of a collective's message per rank, as NCCL tests and AICB
/// define it: the gathered size of an all-gather, the size before the reduction
/// of a reduce-scatter and an all-reduce, the buffer of one rank for an
/// all-to-all and point-to-point, and for a ring the bytes that a rank sends in
/// all its steps.
inline Bytes messageBytes(const Program &P, const Op &Collective) {
  return P.Sizes.value(Collective.Message);
}
/// Returns the FLOPs of \p O on one rank; 0 if it is bound by memory.
inline Flops workOf(const Program &P, const Op &O) {
  return P.Sizes.value(O.Work);
}

} // namespace foretrace::ir
