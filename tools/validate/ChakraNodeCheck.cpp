// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/ChakraNodeCheck.h"
#include "lang/diagnostics/Validate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <array>

using namespace llvm;

namespace foretrace::validate {

namespace {

using Name = chakra::NodeAttribute;

struct Known {
  StringRef Name;
  ChakraAttribute::Form Form;
  unsigned Bits; ///< of an integer
};
constexpr Known KnownAttributes[] = {
#define ATTRIBUTE(ENUMERATOR, NAME, FORM, BITS)                                \
  {NAME, ChakraAttribute::Form::FORM, BITS},
#include "backends/chakra/ChakraSchema.def"
};

enum class Status : unsigned char { Simulated, Replayed, Refused };
constexpr Status CommStatus[] = {
#define COMM_TYPE(ENUMERATOR, WORD, STATUS) Status::STATUS,
#include "backends/chakra/ChakraSchema.def"
};

/// Nanoseconds of a microsecond, as durations are read.
constexpr uint64_t NsOfMicro = 1000;
constexpr uint64_t DurationLimit = uint64_t(1) << 54;
constexpr uint64_t TagLimit = uint64_t(1) << 31, TagModulus = 500000000;

StringRef nameOf(ChakraAttribute::Form F) {
  static constexpr StringRef Names[] = {
      "value of no type", "number", "floating-point number", "string", "list"};
  return Names[static_cast<size_t>(F)];
}

class NodeChecker {
public:
  NodeChecker(const ChakraNode &Node, uint32_t Rank, const ChakraGroups &Groups,
              const Place &At, Findings &Out)
      : Node(Node), Rank(Rank), Groups(Groups), At(At), Out(Out) {}

  ChakraOp run(ChakraWork &Work);

private:
  void indexAttributes();
  const ChakraAttribute *find(Name N) const {
    return Found[static_cast<size_t>(N)];
  }
  /// The value of an integer that is there and sound; reports it if not, and if
  /// it is missing but \p IsNeeded.
  std::optional<uint64_t> readInteger(Name N, bool IsNeeded);

  bool checkComp(ChakraOp &Op, ChakraWork &Work);
  bool checkMessage(ChakraOp &Op);
  bool checkCollective(ChakraOp &Op);
  bool checkTag(uint64_t Tag);
  /// The index of the group of a collective.
  std::optional<uint32_t> findGroup();
  bool checkSize(std::optional<uint64_t> Size);

  template <typename... Ts> bool refuse(diag::Id Id, Ts &&...Args) {
    Out.report(At, Id, std::forward<Ts>(Args)...);
    return false;
  }

  const ChakraNode &Node;
  const uint32_t Rank;
  const ChakraGroups &Groups;
  const Place &At;
  Findings &Out;
  std::array<const ChakraAttribute *, std::size(KnownAttributes)> Found{};
};

void NodeChecker::indexAttributes() {
  for (const ChakraAttribute &A : Node.Attributes) {
    const auto *K = find_if(KnownAttributes,
                            [&](const Known &K) { return K.Name == A.Name; });
    if (K == std::end(KnownAttributes))
      continue;
    const ChakraAttribute *&Slot = Found[K - std::begin(KnownAttributes)];
    if (Slot)
      Out.report(At, diag::ChakraDuplicateAttribute, A.Name);
    else
      Slot = &A;
  }
}

std::optional<uint64_t> NodeChecker::readInteger(Name N, bool IsNeeded) {
  const Known &K = KnownAttributes[static_cast<size_t>(N)];
  const ChakraAttribute *A = find(N);
  if (!A) {
    if (IsNeeded)
      Out.report(At, diag::ChakraMissingAttribute, nameOf(Node.Type), K.Name);
    return std::nullopt;
  }
  if (A->Is != ChakraAttribute::Form::Integer) {
    Out.report(At, diag::ChakraAttributeType, K.Name, nameOf(A->Is),
               "an integer");
    return std::nullopt;
  }
  if (A->IsNegative || (K.Bits < 64 && A->Integer >> K.Bits != 0)) {
    const std::string Value =
        A->IsNegative ? std::to_string(static_cast<int64_t>(A->Integer))
                      : std::to_string(A->Integer);
    Out.report(At, diag::ChakraAttributeRange, K.Name, Value, K.Bits);
    return std::nullopt;
  }
  return A->Integer;
}

bool NodeChecker::checkComp(ChakraOp &Op, ChakraWork &Work) {
  const std::optional<uint64_t> Flops = readInteger(Name::NumOps, false),
                                Size = readInteger(Name::TensorSize, false);
  Work.Flops = Flops.value_or(0);
  Work.Ns = Node.DurationMicros * NsOfMicro;
  if (Op.IsCpu)
    Out.report(At, diag::ChakraCpuCompute);
  if (Node.DurationMicros >= DurationLimit)
    return refuse(diag::ChakraLongDuration, Node.DurationMicros);
  Op.Amount = std::max<uint64_t>(Node.DurationMicros * NsOfMicro, 1);
  const bool HasRoofline = Flops.value_or(0) > 0 && Size.value_or(0) > 0;
  if (Node.DurationMicros > 0) {
    const bool HasFlops = Flops && Size.value_or(0) == 0;
    if ((Flops || Size) && !HasRoofline)
      Out.report(At, diag::ChakraHalfRoofline,
                 HasFlops ? "num_ops" : "tensor_size",
                 HasFlops ? "tensor_size" : "num_ops");
    return true;
  }
  return (HasRoofline && !Op.IsCpu) || refuse(diag::ChakraNoWork);
}

bool NodeChecker::checkSize(std::optional<uint64_t> Size) {
  if (Size && *Size == 0)
    return refuse(diag::ChakraNoBytes, nameOf(Node.Type));
  return Size.has_value();
}

bool NodeChecker::checkTag(uint64_t Tag) {
  if (Tag >= TagLimit)
    return refuse(diag::ChakraTagRange, Tag);
  if (Tag >= TagModulus)
    Out.report(At, diag::ChakraTagAlias, Tag);
  return true;
}

bool NodeChecker::checkMessage(ChakraOp &Op) {
  const bool IsSend = Node.Type == NodeType::Send;
  const Name Own = IsSend ? Name::CommSrc : Name::CommDst,
             Other = IsSend ? Name::CommDst : Name::CommSrc;
  const std::optional<uint64_t> Size = readInteger(Name::CommSize, true),
                                Tag = readInteger(Name::CommTag, true),
                                Peer = readInteger(Other, true),
                                Self = readInteger(Own, false);
  bool IsSound = checkSize(Size) && Tag && checkTag(*Tag) && Peer;
  if (Self && *Self != Rank)
    IsSound = refuse(diag::ChakraWrongEnd, nameOf(Node.Type), *Self, Rank);
  const size_t Ranks = Groups.all().front().Members.size();
  if (Peer && *Peer >= Ranks)
    return refuse(diag::ChakraPeer,
                  KnownAttributes[static_cast<size_t>(Other)].Name, *Peer,
                  Ranks);
  if (Peer && *Peer == Rank)
    return refuse(diag::ChakraSelfMessage, Rank);
  if (!IsSound)
    return false;
  Op.Amount = *Size;
  Op.Tag = static_cast<uint32_t>(*Tag);
  Op.Partner = static_cast<uint32_t>(*Peer);
  return true;
}

std::optional<uint32_t> NodeChecker::findGroup() {
  const ChakraAttribute *A = find(Name::GroupName);
  if (!A)
    return 0;
  if (A->Is != ChakraAttribute::Form::Text) {
    Out.report(At, diag::ChakraAttributeType, "pg_name", nameOf(A->Is),
               "a string");
    return std::nullopt;
  }
  if (A->Text.empty() || A->Text == "0")
    return 0;
  uint32_t Id = 0;
  if (!all_of(A->Text, isDigit) || A->Text.getAsInteger(10, Id) ||
      Id > INT32_MAX) {
    Out.report(At, diag::ChakraGroupName, A->Text);
    return std::nullopt;
  }
  const std::optional<uint32_t> Index = Groups.find(Id);
  if (Groups.path().empty())
    Out.report(At, diag::ChakraNoGroupFile, A->Text);
  else if (!Index)
    Out.report(At, diag::ChakraUnknownGroup, A->Text, Groups.path());
  else if (!Groups.all()[*Index].has(Rank))
    Out.report(At, diag::ChakraNotAMember, Rank, Id);
  else
    return Index;
  return std::nullopt;
}

bool NodeChecker::checkCollective(ChakraOp &Op) {
  const std::optional<uint64_t> Size = readInteger(Name::CommSize, true),
                                Type = readInteger(Name::CommType, true);
  (void)readInteger(Name::CommPriority, false);
  const std::optional<uint32_t> Group = findGroup();
  const bool HasSize = checkSize(Size);
  if (!Type)
    return false;
  if (*Type >= std::size(CommStatus))
    return refuse(diag::ChakraCommType, *Type);
  Op.Comm = static_cast<CommType>(*Type);
  const std::string What = nameOf(Op.Comm);
  if (CommStatus[*Type] == Status::Refused)
    return refuse(diag::ChakraUnsupportedComm, What);
  if (CommStatus[*Type] == Status::Replayed)
    Out.report(At, diag::ChakraBroadcast, Node.DurationMicros);
  if (!Group || !HasSize)
    return false;
  if (Groups.all()[*Group].Members.size() == 1)
    return refuse(diag::ChakraGroupOfOne, What, Groups.all()[*Group].Id);
  Op.Amount = *Size;
  Op.Partner = *Group;
  return true;
}

ChakraOp NodeChecker::run(ChakraWork &Work) {
  indexAttributes();
  ChakraOp Op;
  Op.Id = Node.Id;
  Op.Type = Node.Type;
  Op.IsCpu = readInteger(Name::IsCpuOp, false).value_or(0) != 0;
  switch (Node.Type) {
  case NodeType::Comp:
    Op.IsSound = checkComp(Op, Work);
    return Op;
  case NodeType::Send:
  case NodeType::Recv:
  case NodeType::Coll:
    Op.IsSound =
        Node.Type == NodeType::Coll ? checkCollective(Op) : checkMessage(Op);
    if (Op.IsCpu)
      Op.IsSound = refuse(diag::ChakraCpuCollective, nameOf(Node.Type));
    return Op;
  case NodeType::MemLoad:
  case NodeType::MemStore:
    Op.IsSound = readInteger(Name::TensorSize, true).has_value();
    Out.report(At, diag::ChakraMemoryNode, nameOf(Node.Type));
    return Op;
  case NodeType::Storage:
  case NodeType::Batch:
  case NodeType::Checkpoint:
    Out.report(At, diag::ChakraStorageNode, nameOf(Node.Type));
    Op.IsSound = true;
    return Op;
  case NodeType::Metadata:
    Out.report(At, diag::ChakraMetadataNode);
    return Op;
  default:
    Op.Type = NodeType::Invalid;
    Out.report(At, diag::ChakraNodeType, nameOf(Node.Type));
    return Op;
  }
}

} // namespace

ChakraOp checkNode(const ChakraNode &Node, uint32_t Rank,
                   const ChakraGroups &Groups, const Place &At, Findings &Out,
                   ChakraWork &Work) {
  return NodeChecker(Node, Rank, Groups, At, Out).run(Work);
}

} // namespace foretrace::validate
