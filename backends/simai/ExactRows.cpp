// SPDX-License-Identifier: Apache-2.0
#include "backends/simai/ExactRows.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace foretrace;
using namespace foretrace::simai;
using ir::OpId;
using ir::Phase;

namespace {

struct CellMessage {
  simai::Comm Comm;
  simai::CellGroup Group;
  int64_t Size;
  const ir::Op *Collective;
};

/// Total time of ops that run one after the other.
struct OpSum {
  Nanoseconds Time;
  std::vector<const ir::Op *> Ops;

  void add(const ir::Op &O) {
    Time += O.Time;
    Ops.push_back(&O);
  }
  OpSum &operator+=(const OpSum &S) {
    Time += S.Time;
    llvm::append_range(Ops, S.Ops);
    return *this;
  }
};

/// A forward op with everything that happens on its behalf.
struct ForwardOp {
  std::string Name;
  OpSum Forward;
  OpSum InputGrad; ///< with recomputation
  OpSum ParamGrad;
  llvm::SmallVector<CellMessage, 1> ForwardMessages;
  llvm::SmallVector<CellMessage, 2> BackwardMessages; ///< in execution order
  llvm::SmallVector<CellMessage, 1> DataMessages;

  bool communicates() const {
    return !ForwardMessages.empty() || !BackwardMessages.empty() ||
           !DataMessages.empty();
  }
  void addTimesOf(const ForwardOp &U) {
    Forward += U.Forward;
    InputGrad += U.InputGrad;
    ParamGrad += U.ParamGrad;
  }
};

class RowMaker {
public:
  RowMaker(const ir::Program &P, const ir::Block &B, const TableWords &W)
      : P(P), B(B), W(W) {}

  BlockRows run();
  BlockRows runStep();

private:
  void addCollective(ForwardOp &U, const ir::Op &O);
  ForwardOp &unitOf(OpId Id);
  void mergeSilentUnits();
  void emit(const ForwardOp &U);

  const ir::Program &P;
  const ir::Block &B;
  const TableWords &W;
  std::vector<ForwardOp> Units;
  std::map<unsigned, size_t> UnitOfOp;
  BlockRows Result;
};

} // namespace

/// The unit of the forward op that the op \p Id serves.
ForwardOp &RowMaker::unitOf(OpId Id) {
  while (!UnitOfOp.count(Id.Index))
    Id = B.Ops[Id].For;
  return Units[UnitOfOp[Id.Index]];
}

void RowMaker::addCollective(ForwardOp &U, const ir::Op &O) {
  if (O.Group.size(P.Mesh) == 1)
    return;
  Bytes Size = messageBytes(P, O);
  std::optional<TableWord> Found = W.find(O);
  if (!Found) {
    Result.Missing.push_back({&O, Size});
    return;
  }
  auto Add = [&](llvm::SmallVectorImpl<CellMessage> &To) {
    for (const Bytes Each : messagesOf(P, O))
      To.push_back({Found->Comm, Found->Group, Each.value(), &O});
  };
  if (Found->Where == Direction::Data)
    Add(U.DataMessages);
  else if (O.Phase == Phase::Forward)
    Add(U.ForwardMessages);
  else
    Add(U.BackwardMessages);
}

/// Adds the time of a unit without communication to the unit before it, or at
/// the start of a block to the first unit that communicates.
void RowMaker::mergeSilentUnits() {
  std::vector<ForwardOp> Merged;
  ForwardOp Leading;
  for (ForwardOp &U : Units) {
    if (!U.communicates()) {
      (Merged.empty() ? Leading : Merged.back()).addTimesOf(U);
      continue;
    }
    if (Merged.empty())
      U.addTimesOf(Leading);
    Merged.push_back(std::move(U));
  }
  if (Merged.empty()) { // a block without any traffic is one row
    Leading.Name = B.Name;
    Merged.push_back(std::move(Leading));
  }
  Units = std::move(Merged);
}

/// An overflow is reported with all times that the simulator can't count to.
static void setTime(WorkloadCell &C, const OpSum &Of) {
  C.Time = Of.Time.isOverflow() ? INT64_MAX : Of.Time.value();
  C.Timed = Of.Ops;
}

void RowMaker::emit(const ForwardOp &U) {
  size_t Count = std::max({size_t(1), U.ForwardMessages.size(),
                           U.BackwardMessages.size(), U.DataMessages.size()});
  for (size_t I = 0; I < Count; ++I) {
    WorkloadRow R;
    R.Name = U.Name;
    if (I == 0) {
      setTime(R.Forward, U.Forward);
      setTime(R.Backward, U.InputGrad);
      setTime(R.Update, U.ParamGrad);
    }
    auto Put = [](WorkloadCell &C, const CellMessage &Msg) {
      C.Comm = Msg.Comm;
      C.Group = Msg.Group;
      C.Size = Msg.Size;
      C.Collective = Msg.Collective;
    };
    if (I < U.ForwardMessages.size())
      Put(R.Forward, U.ForwardMessages[I]);
    // The simulator runs the rows from the last to the first in backward.
    if (I < U.BackwardMessages.size())
      Put(R.Backward, U.BackwardMessages[U.BackwardMessages.size() - 1 - I]);
    if (I < U.DataMessages.size())
      Put(R.Update, U.DataMessages[I]);
    Result.Rows.push_back(std::move(R));
  }
}

BlockRows RowMaker::run() {
  auto IsUnit = [](const ir::Op &O) {
    return O.Phase == Phase::Forward && !isCollective(O.Kind);
  };
  for (size_t I = 0; I < B.Ops.size(); ++I)
    if (const ir::Op &O = B.Ops[B.Ops.idAt(I)]; IsUnit(O)) {
      UnitOfOp[static_cast<unsigned>(I)] = Units.size();
      Units.emplace_back().Name = O.Name;
    }
  for (size_t I = 0; I < B.Ops.size(); ++I) {
    const ir::Op &O = B.Ops[B.Ops.idAt(I)];
    ForwardOp &U = unitOf(B.Ops.idAt(I));
    if (isCollective(O.Kind))
      addCollective(U, O);
    else if (O.Phase == Phase::Forward)
      U.Forward.add(O);
    else if (O.Derivative == ir::Derivative::Param)
      U.ParamGrad.add(O);
    else
      U.InputGrad.add(O);
  }
  mergeSilentUnits();
  for (const ForwardOp &U : Units)
    emit(U);
  return std::move(Result);
}

BlockRows RowMaker::runStep() {
  for (const ir::Op &O : llvm::reverse(B.Ops)) {
    ForwardOp U;
    U.Name = O.Name;
    if (isCollective(O.Kind))
      addCollective(U, O);
    else
      U.InputGrad.add(O);
    if (!isCollective(O.Kind) || U.communicates())
      emit(U);
  }
  return std::move(Result);
}

BlockRows foretrace::simai::rowsOf(const ir::Program &P, const ir::Block &B,
                                   const TableWords &W) {
  return RowMaker(P, B, W).run();
}

BlockRows foretrace::simai::stepRowsOf(const ir::Program &P, const ir::Block &B,
                                       const TableWords &W) {
  return RowMaker(P, B, W).runStep();
}
