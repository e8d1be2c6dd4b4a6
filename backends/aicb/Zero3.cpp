// SPDX-License-Identifier: Apache-2.0
//
// DeepSpeed with ZeRO 3: each parameter is gathered for its use and released
// after it. From the second micro-batch on the order of uses is known, and what
// comes next is gathered ahead.
#include "backends/aicb/Weights.h"
#include "backends/aicb/Workload.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::aicb;

namespace {

class Zero3 final : public Workload {
public:
  Zero3(const ir::Spec &S, const Options &O, OutputStream &OS);

private:
  void init() override;
  void forward() override;
  void backward() override;
  void step() override;

  /// Uses are counted from 0: forward in order, backward in reverse.
  size_t parameterOf(size_t Use) const {
    return Use < All.size() ? Use : 2 * All.size() - 1 - Use;
  }
  bool isOrderKnown() const { return NextUse < 2 * All.size(); }
  void use(size_t Use);
  void gatherAlone(size_t I);
  void gatherAhead(size_t I);
  void gather(int64_t Bytes);
  void take(size_t I);
  void release(size_t Use);
  void compute(const Weight &W);
  void flush();

  const Weights All;
  std::vector<bool> Persists, IsHere; ///< of each parameter
  /// The last use that each was gathered ahead for.
  std::vector<int64_t> GatheredFor;
  /// The first use that was not looked at yet, in the order that the last
  /// micro-batch left; all are done before there is one.
  size_t NextUse;
  int64_t Live = 0;     ///< elements that are gathered
  int64_t InBucket = 0; ///< elements of gradients
  llvm::StringRef Phase;
};

} // namespace

Zero3::Zero3(const ir::Spec &S, const Options &O, OutputStream &OS)
    : Workload(S, O, OS), All(J), Persists(All.size()), IsHere(All.size()),
      GatheredFor(All.size(), -1), NextUse(2 * All.size()) {
  int64_t Total = 0;
  for (size_t I = 0; I < All.size(); ++I) {
    const int64_t Count = All[I].count();
    if (Count > O.SmallWeight || Count + Total > O.SmallWeights)
      continue;
    Persists[I] = true;
    Total += Count;
  }
}

void Zero3::init() {
  if (!O.Amp)
    for (size_t I = 0; I < All.size(); ++I)
      Out.send({LoggedComm::Broadcast, dataParallel(), All[I].bytes(),
                "init._broadcast_model", std::nullopt, 0});
  for (llvm::StringRef Where :
       {"_create_fp16_partitions_with_defragmentation",
        "_setup_for_real_optimizer", "_setup_for_real_optimizer"})
    Out.send({LoggedComm::Barrier,
              {CommGroup::All, J.Dp},
              0,
              ("init." + Where).str()});
  for (size_t I = 0; I < All.size(); ++I)
    Out.send({LoggedComm::AllGather, dataParallel(), All[I].bytes(),
              "init._allgather_params"});
}

void Zero3::compute(const Weight &W) {
  if (!O.Computes || W.isVector() || Phase == "step")
    return;
  const int64_t Tokens = J.MicroBatch * J.Sequence;
  Out.multiply({J.MicroBatch, J.Sequence, W.In}, {W.In, W.Out},
               (Phase + ".computation").str());
  if (Phase == "backward")
    Out.multiply({W.In, Tokens}, {Tokens, W.Out}, "");
}

void Zero3::gather(int64_t Bytes) {
  Out.send({LoggedComm::AllGather, dataParallel(), Bytes,
            (Phase + ".allgather_fn").str()});
}

void Zero3::take(size_t I) {
  IsHere[I] = true;
  Live += All[I].count();
}

void Zero3::gatherAlone(size_t I) {
  if (!IsHere[I]) {
    gather(All[I].bytes());
    take(I);
  }
  compute(All[I]);
}

/// Parameters that are already gathered cause no computation.
void Zero3::gatherAhead(size_t I) {
  std::vector<size_t> Gathered;
  int64_t Elements = 0;
  auto Take = [&](size_t Taken) {
    Gathered.push_back(Taken);
    Elements += All[Taken].count();
    take(Taken);
  };
  if (!IsHere[I]) {
    Take(I);
    ++NextUse; // taken for this one, without a look
  }
  while (isOrderKnown() && Elements < O.Prefetch && Live < O.MaxLive) {
    const size_t Use = NextUse++, Wanted = parameterOf(Use);
    GatheredFor[Wanted] = std::max<int64_t>(Use, GatheredFor[Wanted]);
    if (!IsHere[Wanted])
      Take(Wanted);
  }
  if (Gathered.empty())
    return;
  gather(2 * Elements);
  for (size_t Taken : Gathered)
    compute(All[Taken]);
}

/// Until an order is known, even parameters that should persist are released.
void Zero3::release(size_t Use) {
  const size_t I = parameterOf(Use);
  if (isOrderKnown() &&
      (Persists[I] || GatheredFor[I] > static_cast<int64_t>(Use)))
    return;
  IsHere[I] = false;
  Live -= All[I].count();
}

void Zero3::use(size_t Use) {
  if (isOrderKnown())
    gatherAhead(parameterOf(Use));
  else
    gatherAlone(parameterOf(Use));
  release(Use);
}

void Zero3::forward() {
  Phase = "forward";
  for (size_t Use = 0; Use < All.size(); ++Use)
    use(Use);
}

void Zero3::flush() {
  Out.send({LoggedComm::ReduceScatter, dataParallel(), 2 * InBucket,
            (Phase + ".reduce_scatter_fn").str()});
  InBucket = 0;
}

void Zero3::backward() {
  Phase = "backward";
  for (size_t Use = All.size(); Use < 2 * All.size(); ++Use) {
    use(Use);
    const int64_t Count = All[parameterOf(Use)].count();
    if (Count + InBucket > O.ReduceBucket)
      flush();
    InBucket += Count;
  }
  NextUse = 0;
  std::fill(GatheredFor.begin(), GatheredFor.end(), -1);
}

void Zero3::step() {
  Phase = "step";
  flush();
  Out.send({LoggedComm::AllReduce, dataParallel(), 1, "step.has_overflow"});
  Out.send(
      {LoggedComm::AllReduce, dataParallel(), 8, "step.get_grad_norm_direct"});
  std::fill(IsHere.begin(), IsHere.end(), false);
  Live = 0;
  for (size_t I = 0; I < All.size(); ++I)
    if (Persists[I])
      gatherAlone(I);
}

std::unique_ptr<Workload> foretrace::aicb::makeZero3(const ir::Spec &S,
                                                     const Options &O,
                                                     OutputStream &OS) {
  return std::make_unique<Zero3>(S, O, OS);
}
