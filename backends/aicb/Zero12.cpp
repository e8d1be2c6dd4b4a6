// SPDX-License-Identifier: Apache-2.0
//
// DeepSpeed with ZeRO 1 or 2: gradients are reduced in buckets during backward,
// parameters gathered in shards after the step.
#include "backends/aicb/Weights.h"
#include "backends/aicb/Workload.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::aicb;

namespace {

/// Elements [Begin, End) of all parameters in a row.
struct Span {
  int64_t Begin, End;
};

/// A span that one rank owns.
struct Piece {
  int64_t Owner;
  Span Elements;
};

class Zero12 final : public Workload {
public:
  Zero12(const ir::Spec &S, const Options &O, OutputStream &OS)
      : Workload(S, O, OS), All(J), Count(All.count().value()),
        Share(llvm::divideCeil(Count, J.Dp)),
        SendsToOwners(*S.Parallel.Zero == 2 && O.Contiguous) {}

private:
  void init() override;
  void forward() override;
  void backward() override;
  void step() override;

  void differentiate(const Weight &W);
  void flush(llvm::StringRef Phase);
  std::vector<Piece> piecesOfBucket() const;
  void addPieces(std::vector<Piece> &Pieces, Span Of) const;

  const Weights All;
  const int64_t Count; ///< elements of all parameters
  const int64_t Share; ///< elements that a rank owns
  const bool SendsToOwners;
  std::vector<Span> Bucket; ///< in the order of backward; if it matters
  int64_t InBucket = 0;     ///< elements
};

} // namespace

void Zero12::init() {
  for (size_t I = 0; I < All.size(); ++I)
    Out.send({LoggedComm::Broadcast, dataParallel(), All[I].bytes(), "init"});
  // A variable of the loop is still there: a barrier of some bytes.
  Out.send({LoggedComm::Barrier,
            {CommGroup::All, J.Dp},
            All[All.size() - 1].bytes(),
            "init.__init__"});
}

void Zero12::forward() {
  if (!O.Computes)
    return;
  for (size_t I = 0; I < All.size(); ++I)
    if (const Weight W = All[I]; !W.isVector())
      Out.multiply({J.MicroBatch, J.Sequence, W.In}, {W.In, W.Out},
                   "forward.computation");
}

void Zero12::differentiate(const Weight &W) {
  const int64_t Tokens = J.MicroBatch * J.Sequence;
  Out.multiply({J.MicroBatch, J.Sequence, W.In}, {W.In, W.Out},
               "backward.computation");
  Out.multiply({W.In, Tokens}, {Tokens, W.Out}, "backward.computation");
}

void Zero12::backward() {
  int64_t End = Count;
  for (size_t I = All.size(); I-- > 0;) {
    const Weight W = All[I];
    if (W.count() + InBucket > O.ReduceBucket)
      flush("backward");
    if (SendsToOwners)
      Bucket.push_back({End - W.count(), End});
    End -= W.count();
    InBucket += W.count();
    if (O.Computes && !W.isVector())
      differentiate(W);
  }
}

/// Owners hold equal shares, in order. One whose share ends where the span
/// begins has an empty piece of it, unless the span is of one owner.
void Zero12::addPieces(std::vector<Piece> &Pieces, Span Of) const {
  auto Add = [&](int64_t Owner, Span Part) {
    if (!Pieces.empty() && Pieces.back().Owner == Owner)
      Pieces.back().Elements.End = Part.End;
    else
      Pieces.push_back({Owner, Part});
  };
  int64_t Owner = Of.Begin == 0 ? 0 : (Of.Begin - 1) / Share;
  for (; (Owner + 1) * Share < Of.End; ++Owner) {
    Add(Owner, {Of.Begin, (Owner + 1) * Share});
    Of.Begin = (Owner + 1) * Share;
  }
  Add(Owner, Of);
}

std::vector<Piece> Zero12::piecesOfBucket() const {
  std::vector<Piece> Pieces;
  for (Span S : llvm::reverse(Bucket))
    addPieces(Pieces, S);
  return Pieces;
}

void Zero12::flush(llvm::StringRef Phase) {
  // A joined piece may begin after its end if the bucket wraps around the
  // model. Its size is then negative, as in the generator.
  if (SendsToOwners)
    for (const Piece &P : piecesOfBucket())
      Out.send({LoggedComm::Reduce, dataParallel(),
                2 * (P.Elements.End - P.Elements.Begin),
                (Phase + ".average_tensor").str(), P.Owner});
  else
    Out.send({LoggedComm::AllReduce, dataParallel(), 2 * InBucket,
              (Phase + ".allreduce_bucket").str()});
  Bucket.clear();
  InBucket = 0;
}

void Zero12::step() {
  flush("step");
  Out.send({LoggedComm::AllReduce, dataParallel(), 1, "step.has_overflow"});
  const int64_t Shards = std::max<int64_t>(Count / O.GatherBucket, 1);
  for (int64_t I = 0; I < Shards; ++I) {
    const int64_t Each = Count / Shards;
    const int64_t Elements = I + 1 == Shards ? Count - I * Each : Each;
    Out.send({LoggedComm::AllGather, dataParallel(),
              2 * static_cast<int64_t>(llvm::alignTo(Elements, J.Dp)),
              "step.all_gather_dp_groups"});
  }
}

std::unique_ptr<Workload> foretrace::aicb::makeZero12(const ir::Spec &S,
                                                      const Options &O,
                                                      OutputStream &OS) {
  return std::make_unique<Zero12>(S, O, OS);
}
