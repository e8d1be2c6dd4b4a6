// SPDX-License-Identifier: Apache-2.0
#include "backends/chakra/NodeWriter.h"
#include "backends/chakra/ChakraCollectives.h"
#include "ir/model/Ops.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include <protozero/pbf_writer.hpp>

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::chakra;

/// Writes a value into an attribute called \p Name.
template <typename FnT>
static void addAttribute(protozero::pbf_writer &Of, uint32_t Field,
                         llvm::StringRef Name, FnT Value) {
  protozero::pbf_writer A(Of, Field);
  A.add_string(value_field::Name, Name.data(), Name.size());
  Value(A);
}

/// A node that is being written.
class chakra::NodeWriter::Message {
public:
  Message(int64_t Id, llvm::StringRef Name, NodeType Type) : Node(Bytes) {
    Node.add_uint64(node_field::Id, static_cast<uint64_t>(Id));
    Node.add_string(node_field::Name, Name.data(), Name.size());
    Node.add_enum(node_field::Type, static_cast<int32_t>(Type));
  }

  void deps(uint32_t Field, llvm::ArrayRef<int64_t> Ids) {
    if (!Ids.empty())
      Node.add_packed_uint64(Field, Ids.begin(), Ids.end());
  }
  void duration(int64_t Micros) {
    Node.add_uint64(node_field::DurationMicros, static_cast<uint64_t>(Micros));
  }
  void integer(llvm::StringRef Name, int64_t Value) {
    attribute(Name, [&](protozero::pbf_writer &A) {
      A.add_int64(value_field::Int64, Value);
    });
  }
  void boolean(llvm::StringRef Name, bool Value) {
    attribute(Name, [&](protozero::pbf_writer &A) {
      A.add_bool(value_field::Bool, Value);
    });
  }
  void text(llvm::StringRef Name, llvm::StringRef Value) {
    attribute(Name, [&](protozero::pbf_writer &A) {
      A.add_string(value_field::String, Value.data(), Value.size());
    });
  }
  void fixed(llvm::StringRef Name, uint32_t Value) {
    attribute(Name, [&](protozero::pbf_writer &A) {
      A.add_fixed32(value_field::Fixed32, Value);
    });
  }
  const std::string &bytes() const { return Bytes; }

private:
  template <typename FnT> void attribute(llvm::StringRef Name, FnT Value) {
    addAttribute(Node, node_field::Attribute, Name, Value);
  }

  std::string Bytes;
  protozero::pbf_writer Node;
};

chakra::NodeWriter::NodeWriter(const Program &P, const GroupNames &Names,
                               const Provenance *Lines)
    : P(P), Names(Names), Lines(Lines),
      HasTimes(*P.Spec.Cost.Kind != CostKind::Uncosted) {
  std::string Message;
  protozero::pbf_writer Metadata(Message);
  Metadata.add_string(metadata_field::Version, "1.0.0");
  if (const std::string What = P.Spec.Cost.describeDurations(); !What.empty())
    addAttribute(Metadata, metadata_field::Attribute, "durations",
                 [&](protozero::pbf_writer &A) {
                   A.add_string(value_field::String, What);
                 });
  append(Message);
}

void chakra::NodeWriter::append(const std::string &Message) {
  protozero::add_varint_to_buffer(&Out.Bytes, Message.size());
  Out.Bytes += Message;
}

/// The place of \p Item in \p Items, where it is then.
template <typename T, typename EqualT>
static size_t place(std::vector<T> &Items, const T &Item, EqualT IsEqual) {
  auto It =
      llvm::find_if(Items, [&](const T &Of) { return IsEqual(Of, Item); });
  if (It != Items.end())
    return static_cast<size_t>(It - Items.begin());
  Items.push_back(Item);
  return Items.size() - 1;
}

void chakra::NodeWriter::compute(llvm::ArrayRef<const Op *> Ops,
                                 Message &Node) {
  int64_t Duration = 0, Work = 0, Touched = 0; // checked: sums are below 2^63
  for (const Op *O : Ops) {
    const int64_t Own = HasTimes ? Micros.next(O->Time) : 0;
    Duration += Own;
    if (isOpaque(O->Kind) && Own > 0)
      continue;
    Work += workOf(P, *O).value();
    Touched += P.Sizes.value(O->Touched).value();
  }
  if (HasTimes)
    Node.duration(Duration);
  if (Ops.size() == 1 && isOpaque(Ops.front()->Kind) && Duration > 0)
    return;
  // ASTRA-sim divides by both.
  Node.integer(nameOf(NodeAttribute::NumOps), std::max<int64_t>(Work, 1));
  Node.integer(nameOf(NodeAttribute::TensorSize),
               std::max<int64_t>(Touched, 1));
}

void chakra::NodeWriter::collective(const Task &T, Message &Node) {
  const ChakraCollective *Row = findChakraCollective(T.Of->Kind);
  assert(Row && "rings are messages");
  Node.integer(nameOf(NodeAttribute::CommType),
               static_cast<int64_t>(Row->Type));
  Node.integer(nameOf(NodeAttribute::CommSize),
               inputBytes(*Row, T.Size, T.Of->Group.size(P.Mesh)));
  if (Names.isWorld(T.Of->Group))
    return Node.text(nameOf(NodeAttribute::GroupName), "0");
  Node.text(nameOf(NodeAttribute::GroupName), std::string(Names.width(), '0'));
  GroupFromEnd = Names.width();
  Which = place(Out.Groups, T.Of->Group, std::equal_to<Group>());
}

void chakra::NodeWriter::message(const Task &T, Message &Node) {
  const bool IsSend = T.Kind == TaskKind::Send;
  Node.integer(nameOf(NodeAttribute::CommSize), T.Size.value());
  Node.integer(nameOf(NodeAttribute::CommTag), T.Tag);
  Node.fixed(nameOf(IsSend ? NodeAttribute::CommDst : NodeAttribute::CommSrc),
             0);
  PeerFromEnd = sizeof(uint32_t);
  Which = place(Out.Peers, T.Peer, [](const TaskPeer &A, const TaskPeer &B) {
    return A.Axes == B.Axes && A.Position == B.Position &&
           A.IsRelative == B.IsRelative;
  });
}

/// Returns the type of the communicated values; of several, of the first.
static ElementType elementOf(const Program &P, const Task &T) {
  return T.Of ? T.In->Values[T.Of->Operands.front()].Type.Element
              : valuesOf(P, T.Boundary).front()->Type.Element;
}

void chakra::NodeWriter::provenance(const Task &T, Message &Node) {
  Node.text("phase", getName(T.Action));
  if (T.Kind == TaskKind::Collective)
    Node.text("collective", getMnemonic(T.Of->Kind));
  if (T.Kind != TaskKind::Compute)
    Node.text("type", getName(elementOf(P, T)));
  if (T.MicroBatch >= 0) {
    Node.integer("micro_batch", T.MicroBatch);
    Node.integer("chunk", T.Chunk);
  }
  if (T.Layer >= 0)
    Node.integer("layer", T.Layer);
  if (T.Of)
    if (auto It = Lines->find(T.Of); It != Lines->end())
      Node.text("source", It->second);
}

static NodeType typeOf(TaskKind K) {
  switch (K) {
  case TaskKind::Compute:
    return NodeType::Comp;
  case TaskKind::Collective:
    return NodeType::Coll;
  case TaskKind::Send:
    return NodeType::Send;
  case TaskKind::Receive:
    return NodeType::Recv;
  }
  llvm_unreachable("every kind of task is handled");
}

/// `linear_qkv.dgrad`, or what a message is called.
static std::string titleOf(const Task &T) {
  return T.Of ? T.Of->Name + getSuffix(T.Of->Derivative).str()
              : getName(T.Action).str();
}

void chakra::NodeWriter::add(int64_t Id, const Task &T) {
  add(Id, titleOf(T), T, T.Of);
}

void chakra::NodeWriter::add(const ComputeRun &Run) {
  std::string Name = titleOf(Run.Task);
  if (Run.Ops.size() > 1)
    Name += " + " + std::to_string(Run.Ops.size() - 1);
  add(Run.Id, Name, Run.Task, Run.Ops);
}

void chakra::NodeWriter::add(int64_t Id, llvm::StringRef Name, const Task &T,
                             llvm::ArrayRef<const Op *> Ops) {
  Message Node(Id, Name, typeOf(T.Kind));
  Node.deps(node_field::CtrlDeps, T.Control);
  Node.deps(node_field::DataDeps, T.Data);
  if (T.Kind == TaskKind::Compute)
    compute(Ops, Node);
  Node.boolean(nameOf(NodeAttribute::IsCpuOp), false);
  if (Lines)
    provenance(T, Node);
  // These are last, so that their places are known.
  GroupFromEnd.reset();
  PeerFromEnd.reset();
  if (T.Kind == TaskKind::Collective)
    collective(T, Node);
  else if (T.Kind != TaskKind::Compute)
    message(T, Node);
  append(Node.bytes());
  if (GroupFromEnd)
    Out.GroupPlaces.push_back({Out.Bytes.size() - *GroupFromEnd, Which});
  if (PeerFromEnd)
    Out.PeerPlaces.push_back({Out.Bytes.size() - *PeerFromEnd, Which});
}

void StageTrace::write(int64_t Rank, const RankMap &Map,
                       const GroupNames &Names, llvm::raw_ostream &OS) const {
  std::string Own = Bytes;
  std::vector<std::string> Of;
  for (const Group &G : Groups)
    Of.push_back(Names.name(G, Rank));
  for (const GroupPlace &To : GroupPlaces)
    Of[To.Which].copy(&Own[To.At], Of[To.Which].size());
  std::vector<uint32_t> Ranks;
  for (const TaskPeer &Peer : Peers)
    Ranks.push_back(static_cast<uint32_t>(Peer.rank(Map, Rank)));
  for (const PeerPlace &To : PeerPlaces)
    llvm::support::endian::write32le(&Own[To.At], Ranks[To.Which]);
  OS << Own;
}
