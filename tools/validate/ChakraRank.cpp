// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/ChakraRank.h"
#include "lang/ReadFile.h"
#include "lang/diagnostics/Validate.h"
#include "tools/validate/ChakraNodeCheck.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace foretrace::validate {

/// Versions of the schema in releases of Chakra, and in STAGE, which writes its
/// own version there.
static constexpr StringRef KnownVersions[] = {"0.0.4", "1.0.0"};

static void add(uint64_t &Sum, uint64_t More) {
  Sum = SaturatingAdd(Sum, More);
}

static void count(ChakraTotals &T, const ChakraOp &Op, const ChakraWork &Work) {
  const auto Type = static_cast<size_t>(Op.Type);
  if (Type < T.Nodes.size())
    ++T.Nodes[Type];
  add(T.Flops, Work.Flops);
  ChakraTotals::Sum *S = Op.isCollective()
                             ? &T.Collectives[{Op.Partner, Op.Comm}]
                         : Op.isSend() ? &T.Messages
                                       : nullptr;
  if (S) {
    ++S->Count;
    add(S->Bytes, Op.Amount);
  }
  if (Op.Type == NodeType::Comp)
    add(T.ComputeNs, Work.Ns);
}

/// The longest way through \p Graph, in ns of its COMP nodes.
static uint64_t criticalNs(const ChakraGraph &Graph) {
  std::vector<uint64_t> Ready(Graph.ops().size());
  uint64_t Longest = 0;
  for (uint32_t I : Graph.order()) {
    const ChakraOp &Op = Graph.ops()[I];
    const uint64_t End =
        SaturatingAdd(Ready[I], Op.Type == NodeType::Comp ? Op.Amount : 0);
    Longest = std::max(Longest, End);
    for (uint32_t Next : Graph.dependents(I))
      Ready[Next] = std::max(Ready[Next], End);
  }
  return Longest;
}

static bool isCommunication(NodeType T) {
  return T == NodeType::Send || T == NodeType::Recv || T == NodeType::Coll;
}

/// Reads nodes until the end, or the first broken one.
static void readNodes(ChakraReader &Reader, const Place &File, uint32_t Rank,
                      const ChakraGroups &Groups, ChakraRank &R) {
  Place At = File;
  for (;;) {
    switch (Reader.next()) {
    case ChakraReader::Status::End:
      return;
    case ChakraReader::Status::Truncated:
      R.Found.report(File, diag::ChakraTruncated, Reader.message());
      R.IsSound = false;
      return;
    case ChakraReader::Status::Malformed:
      R.Found.report(File, diag::ChakraMalformed, Reader.message(),
                     Reader.why());
      R.IsSound = false;
      return;
    case ChakraReader::Status::Node:
      break;
    }
    At.Node = Reader.node().Id;
    ChakraWork Work;
    const ChakraOp Op =
        checkNode(Reader.node(), Rank, Groups, At, R.Found, Work);
    R.IsSound &= Op.IsSound || !isCommunication(Op.Type);
    count(R.Totals, Op, Work);
    R.Graph.add(Op, Reader.node());
  }
}

/// Reports COMP nodes if none has a time: those of less than 1 us are 0 where
/// others have one.
static void checkTimes(const ChakraGraph &Graph, StringRef Path,
                       Findings &Out) {
  const ChakraOp *First = nullptr;
  for (const ChakraOp &Op : Graph.ops()) {
    if (Op.Type != NodeType::Comp || !Op.IsSound)
      continue;
    if (Op.Amount > 1)
      return;
    First = First ? First : &Op;
  }
  if (First)
    Out.report({Path.str(), 0, First->Id}, diag::ChakraNoDuration);
}

std::unique_ptr<ChakraRank> readRank(StringRef Path, uint32_t Rank,
                                     const ChakraGroups &Groups) {
  auto R = std::make_unique<ChakraRank>();
  auto Buffer = readLargeFile(Path);
  if (!Buffer) {
    R->Failure = toString(createFileError(Path, Buffer.getError()));
    return R;
  }
  const Place File{Path.str(), 0, {}};
  if ((*Buffer)->getBufferSize() == 0) {
    R->Found.report(File, diag::ChakraEmptyFile);
    R->IsSound = false;
    return R;
  }
  ChakraReader Reader((*Buffer)->getBuffer());
  if (!Reader.hasMetadata())
    R->Found.report(File, diag::ChakraNoMetadata);
  else if (Reader.version() &&
           !llvm::is_contained(KnownVersions, *Reader.version()))
    R->Found.report(File, diag::ChakraVersion, *Reader.version(),
                    llvm::join(ArrayRef(KnownVersions), " and "));
  readNodes(Reader, File, Rank, Groups, *R);
  R->Graph.finish(Path, R->Found);
  R->IsSound &= R->Graph.isAcyclic();
  checkTimes(R->Graph, Path, R->Found);
  if (R->Graph.ops().empty() && !R->Found.hasErrors())
    R->Found.report(File, diag::ChakraNoNodes);
  R->Totals.CriticalNs = criticalNs(R->Graph);
  return R;
}

std::map<uint32_t, GroupSequence> sequencesOf(const ChakraGraph &Graph) {
  std::map<uint32_t, GroupSequence> Sequences;
  for (uint32_t I : Graph.order()) {
    const ChakraOp &Op = Graph.ops()[I];
    if (!Op.isCollective())
      continue;
    GroupSequence &S = Sequences[Op.Partner];
    ++S.Count;
    const uint64_t Words[] = {S.Hash, static_cast<uint64_t>(Op.Comm),
                              Op.Amount};
    S.Hash = xxh3_64bits(
        ArrayRef(reinterpret_cast<const uint8_t *>(Words), sizeof(Words)));
  }
  return Sequences;
}

std::vector<const ChakraOp *> collectivesOf(const ChakraGraph &Graph,
                                            uint32_t Group) {
  std::vector<const ChakraOp *> Found;
  for (uint32_t I : Graph.order())
    if (Graph.ops()[I].isCollective() && Graph.ops()[I].Partner == Group)
      Found.push_back(&Graph.ops()[I]);
  return Found;
}

/// Finds for each node the last collective of \p Group, counted from 1, that it
/// waits for. If that is always the one before, the collectives are ordered.
static void checkGroupOrder(const ChakraGraph &Graph, uint32_t Group,
                            const std::string &Name, StringRef Path,
                            Findings &Out) {
  std::vector<uint32_t> After(Graph.ops().size());
  uint32_t Seen = 0;
  for (uint32_t I : Graph.order()) {
    const ChakraOp &Op = Graph.ops()[I];
    uint32_t Passed = After[I];
    if (Op.isCollective() && Op.Partner == Group) {
      if (Passed != Seen)
        Out.report({Path.str(), 0, Op.Id}, diag::ChakraUnordered, Name);
      Passed = ++Seen;
    }
    for (uint32_t Next : Graph.dependents(I))
      After[Next] = std::max(After[Next], Passed);
  }
}

void checkOrder(const ChakraGraph &Graph, const ChakraGroups &Groups,
                StringRef Path, Findings &Out) {
  // A rank is in a few groups, one for each axis of its job; thousands would
  // take long.
  size_t Left = 64;
  for (const auto &[Group, S] : sequencesOf(Graph)) {
    if (S.Count == 1)
      continue;
    if (Left-- == 0)
      return;
    checkGroupOrder(Graph, Group, Groups.describe(Group), Path, Out);
  }
}

void forEachMessage(
    const ChakraGraph &Graph, uint32_t Rank,
    function_ref<void(const Message &, const ChakraOp &)> Send,
    function_ref<void(const Message &, const ChakraOp &)> Receive) {
  for (const ChakraOp &Op : Graph.ops()) {
    if (Op.isSend())
      Send({Rank, Op.Partner, Op.Tag, Op.Amount}, Op);
    else if (Op.isRecv())
      Receive({Op.Partner, Rank, Op.Tag, Op.Amount}, Op);
  }
}

} // namespace foretrace::validate
