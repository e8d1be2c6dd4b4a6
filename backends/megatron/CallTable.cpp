// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/CallTable.h"
#include "backends/KnownLayers.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::megatron;
using llvm::StringLiteral;
using llvm::StringRef;

namespace {

/// Which traces a row is of.
struct DialectSet {
  std::optional<bool> IsV1, IsScaling; ///< nothing: either

  bool contain(Instrumentation How) const {
    return IsV1.value_or(How.isV1()) == How.isV1() &&
           IsScaling.value_or(How.Scaling) == How.Scaling;
  }
};

namespace dialects {
constexpr DialectSet Any = {{}, {}}, V1 = {true, {}}, V2 = {false, {}},
                     Run = {{}, false}, Scaling = {{}, true},
                     V1Run = {true, false}, V1Scaling = {true, true},
                     V2Run = {false, false}, V2Scaling = {false, true};
} // namespace dialects

enum class Pass : unsigned char { Forward, Backward, Any };
enum class When : unsigned char {
  Always,
  TpAlone,
  TpMany,
  TpSequence,
  TpExchange,
  EpAlone,
  EpMany,
  ManyChoices,
  BiasMany
};

/// The kind of an op, or nothing for all.
namespace kinds {
constexpr std::optional<ir::OpKind> Any = std::nullopt;
#define COMPUTE_OP(ENUMERATOR, ...)                                            \
  [[maybe_unused]] constexpr std::optional<ir::OpKind> ENUMERATOR =            \
      ir::OpKind::ENUMERATOR;
#define COLLECTIVE_OP(ENUMERATOR, ...) COMPUTE_OP(ENUMERATOR)
#include "ir/model/Ops.def"
} // namespace kinds

/// A row LOGGED or HIDDEN.
struct CollectiveRow {
  DialectSet In;
  Pass Direction;
  std::optional<ir::OpKind> Kind;
  StringLiteral Group;
  std::optional<ir::OpKind> Served;
  StringLiteral Module, Value;
  When Condition;
  CollectiveRule Rule;
};

constexpr CallText NoCall = {"",
                             "",
                             GroupKind::Tp,
                             ir::OpKind::AllReduce,
                             CallShape::TH,
                             CallType::Param};

constexpr CollectiveRow Collectives[] = {
#define LOGGED(DIALECTS, PASS, KIND, AXES, SERVED, MODULE, VALUE, WHEN,        \
               FUNCTION, NAME, GROUP, COMM, SHAPE, TYPE)                       \
  {dialects::DIALECTS,                                                         \
   Pass::PASS,                                                                 \
   kinds::KIND,                                                                \
   AXES,                                                                       \
   kinds::SERVED,                                                              \
   MODULE,                                                                     \
   VALUE,                                                                      \
   When::WHEN,                                                                 \
   {Fate::Logged,                                                              \
    {FUNCTION, NAME, GroupKind::GROUP, ir::OpKind::COMM, CallShape::SHAPE,     \
     CallType::TYPE},                                                          \
    ""}},
#define HIDDEN(DIALECTS, PASS, KIND, AXES, SERVED, MODULE, VALUE, FATE, WHY)   \
  {dialects::DIALECTS,                                                         \
   Pass::PASS,                                                                 \
   kinds::KIND,                                                                \
   AXES,                                                                       \
   kinds::SERVED,                                                              \
   MODULE,                                                                     \
   VALUE,                                                                      \
   When::Always,                                                               \
   {Fate::FATE, NoCall, WHY}},
#include "backends/megatron/SubOperations.def"
};

/// A row ADDED.
struct AddedRow {
  DialectSet In;
  Pass Direction;
  ir::OpKind Kind;
  StringLiteral Module;
  When Condition;
  CallText Call;
};
constexpr AddedRow AddedRows[] = {
#define ADDED(DIALECTS, PASS, KIND, MODULE, WHEN, FUNCTION, NAME, GROUP, COMM, \
              SHAPE, TYPE, WHY)                                                \
  {dialects::DIALECTS,                                                         \
   Pass::PASS,                                                                 \
   ir::OpKind::KIND,                                                           \
   MODULE,                                                                     \
   When::WHEN,                                                                 \
   {FUNCTION, NAME, GroupKind::GROUP, ir::OpKind::COMM, CallShape::SHAPE,      \
    CallType::TYPE}},
#include "backends/megatron/SubOperations.def"
};

constexpr BatchCall BatchCalls[] = {
#define BATCH(NAME, BLOCK, SHAPE, TYPE)                                        \
  {NAME, BatchBlock::BLOCK, CallShape::SHAPE, ir::ElementType::TYPE},
#include "backends/megatron/SubOperations.def"
};

/// A row STEP.
struct StepRow {
  StringLiteral Value;
  CollectiveRule Rule;
};
constexpr StepRow StepRows[] = {
#define STEP(VALUE, FATE, WHY) {VALUE, {Fate::FATE, NoCall, WHY}},
#include "backends/megatron/SubOperations.def"
};

/// The rule for broadcasts of get_batch.
constexpr CollectiveRule Broadcast = {Fate::Logged, NoCall, ""};

} // namespace

static Pass passOf(const ir::Op &O) {
  return O.Phase == ir::Phase::Backward ? Pass::Backward : Pass::Forward;
}

static bool fits(Pass Direction, const ir::Op &O) {
  return Direction == Pass::Any || Direction == passOf(O);
}

const ir::BlockSpec *foretrace::megatron::expertsOf(const ir::Program &P,
                                                    const ir::Block &B) {
  const ir::BlockSpec *Spec = P.Spec.Model.findBlock(B.Name);
  return Spec && hasExperts(*Spec) ? Spec : nullptr;
}

static bool holds(When Condition, const ir::Program &P, const ir::Block &B) {
  const ir::ParallelSpec &Par = P.Spec.Parallel;
  const ir::BlockSpec *Experts = expertsOf(P, B);
  switch (Condition) {
  case When::Always:
    return true;
  case When::TpAlone:
    return *Par.Tp == 1;
  case When::TpMany:
    return *Par.Tp > 1;
  case When::TpSequence:
    return *Par.Tp > 1 && *Par.SequenceParallel;
  case When::TpExchange:
    return *Par.Tp > 1 && Experts &&
           *Experts->Network.word("dispatcher") == "alltoall";
  case When::EpAlone:
    return *Par.Ep == 1;
  case When::EpMany:
    return *Par.Ep > 1;
  case When::ManyChoices:
    return Experts && *Experts->Network.number("topk") > 1;
  case When::BiasMany:
    return Experts && *Experts->Network.flag("bias") && *Par.Tp * *Par.Ep > 1;
  }
  llvm_unreachable("every condition is handled");
}

/// Returns whether all axes of \p O are of the process group \p Name.
static bool isOver(const ir::Op &O, StringRef Name) {
  const ir::ProcessGroup &G = processGroup(Name);
  return llvm::all_of(O.Group.Axes,
                      [&](ir::Axis A) { return G.Group.spans(A); });
}

const CollectiveRule *foretrace::megatron::findRule(const ir::Program &P,
                                                    const ir::Block &B,
                                                    const ir::Op &Collective,
                                                    Instrumentation How) {
  const StringRef Value = B.Values[Collective.Operands[0]].Name;
  if (Collective.Kind == ir::OpKind::Broadcast) {
    const bool IsRead = llvm::any_of(
        BatchCalls, [&](const BatchCall &C) { return C.Name == Value; });
    return IsRead ? &Broadcast : nullptr;
  }
  if (!Collective.For.isValid())
    return nullptr;
  const ir::Op &Served = B.Ops[Collective.For];
  for (const CollectiveRow &R : Collectives)
    if (R.In.contain(How) && fits(R.Direction, Collective) &&
        R.Kind.value_or(Collective.Kind) == Collective.Kind &&
        R.Served.value_or(Served.Kind) == Served.Kind &&
        (R.Module.empty() || R.Module == Served.Name) &&
        Value.starts_with(R.Value) && isOver(Collective, R.Group) &&
        holds(R.Condition, P, B))
      return &R.Rule;
  return nullptr;
}

const CollectiveRule *
foretrace::megatron::findStepRule(const ir::Block &Step,
                                  const ir::Op &Collective) {
  const StringRef Value = Step.Values[Collective.Operands[0]].Name;
  for (const StepRow &R : StepRows)
    if (R.Value == Value)
      return &R.Rule;
  return nullptr;
}

void foretrace::megatron::forEachAddedCall(
    const ir::Program &P, const ir::Block &B, const ir::Op &O,
    Instrumentation How, llvm::function_ref<void(const CallText &)> Visit) {
  if (O.Derivative == ir::Derivative::Param)
    return;
  for (const AddedRow &R : AddedRows)
    if (R.Kind == O.Kind && R.Module == O.Name && R.In.contain(How) &&
        fits(R.Direction, O) && holds(R.Condition, P, B))
      Visit(R.Call);
}

llvm::ArrayRef<BatchCall> foretrace::megatron::batchCalls() {
  return BatchCalls;
}

bool foretrace::megatron::movesParameters(const ir::Op &O, const ir::Block &B) {
  if (!isCollective(O.Kind) || !llvm::all_of(O.Group.Axes, [](ir::Axis A) {
        return A == ir::Axis::Cp || A == ir::Axis::Dp || A == ir::Axis::Edp;
      }))
    return false;
  const ir::Value &Operand = B.Values[O.Operands[0]];
  if (O.Kind == ir::OpKind::AllGather)
    return Operand.Kind == ir::ValueKind::Param || O.Phase == ir::Phase::Step;
  // The buffers of a step are gradients of no value of theirs.
  return Operand.Kind == ir::ValueKind::Gradient &&
         (!Operand.GradientOf.isValid() ||
          B.Values[Operand.GradientOf].Kind == ir::ValueKind::Param);
}
