// SPDX-License-Identifier: Apache-2.0
#include "analysis/ServiceTime.h"
#include "analysis/LawParameters.h"
#include "ir/model/Measure.h"
#include "ir/model/Spec.h"
#include <algorithm>
#include <cmath>

using namespace foretrace;
using namespace foretrace::ir;

using Number = KernelParameterId;

llvm::StringRef foretrace::getName(ServiceBound B) {
  switch (B) {
  case ServiceBound::Requests:
    return "requests";
  case ServiceBound::Cache:
    return "cache";
  case ServiceBound::Prefill:
    return "prefill";
  }
  llvm_unreachable("every bound is handled");
}

/// Returns the tokens of a prompt that the cache has in any case.
static int64_t prefixOf(const Spec &S) {
  return *S.Serve->PrefixCaching ? *S.Requests->Prefix : 0;
}

/// Returns the part of the others that it has.
static double hitRate(const Spec &S) {
  const Located<int64_t> &Rate = S.Requests->HitRate;
  return *S.Serve->PrefixCaching && Rate.isPresent()
             ? static_cast<double>(*Rate) * 1e-6
             : 0;
}

/// Returns the tokens of a prompt that the cache has not, at least one.
static double promptOf(const Spec &S) {
  const int64_t Others = *S.Requests->Input - prefixOf(S);
  return std::max(1.0, static_cast<double>(Others) * (1 - hitRate(S)));
}

/// Returns the mean number of tokens of a sequence that a step yields: one, and
/// each that is accepted with all before it.
static double tokensOfStep(const Spec &S) {
  if (!S.Draft)
    return 1;
  const std::vector<int64_t> Of = *DraftSpec::acceptances(*S.Draft->Acceptance);
  double Sum = 1, Accepted = 1;
  for (int64_t I = 0; I < *S.Draft->Tokens; ++I) {
    const size_t At = Of.size() == 1 ? 0 : static_cast<size_t>(I);
    Accepted *= static_cast<double>(Of[At]) * 1e-6;
    Sum += Accepted;
  }
  return Sum;
}

/// An engine without prompts has none in any step.
static std::array<ExprId, 4> lawsOf(const ServiceLaws &Of) {
  const StepLaws Prefill = Of.Prefill.value_or(*Of.Decode);
  return {Of.Decode->Cached, Of.Decode->Rest, Prefill.Cached, Prefill.Rest};
}

StepClock::StepClock(const Program &P)
    : P(P), Code(P.Sizes, lawsOf(*P.Service)), Row(Code) {}

/// Returns a time for another value of a key; no number if there is none, or if
/// the job derives the key from something else.
double StepClock::at(Law Of, KeyId Key, int64_t Value) {
  const auto [It, IsNew] = Known.try_emplace({Of, Value});
  if (!IsNew)
    return It->second;
  const std::optional<size_t> Leaf = Code.findLeaf(ir::Key{Key});
  const RequestsSpec &R = *P.Spec.Requests;
  if (!Leaf &&
      Value != (Key == KeyId::RequestsInput ? *R.Input : *R.Concurrency))
    return It->second = std::nan("");
  Row.restart();
  if (Leaf)
    Row.set(*Leaf, Value);
  const int64_t Time = Row.value(Of);
  Row.restart();
  if (Leaf)
    Row.set(*Leaf, Code.leaves()[*Leaf].Value);
  return It->second =
             Time == NoValue ? std::nan("") : static_cast<double>(Time) * 1e-9;
}

/// Returns a time between those of the nearest two multiples of \p PerUnit.
double StepClock::between(Law Of, KeyId Key, double Value, int64_t PerUnit) {
  const double Below = std::max(std::floor(Value), 1.0), Part = Value - Below;
  const auto First = static_cast<int64_t>(Below);
  const double Time = at(Of, Key, First * PerUnit);
  return Part <= 0 ? Time
                   : Time + Part * (at(Of, Key, (First + 1) * PerUnit) - Time);
}

double StepClock::ofSequences(Law Of, double Sequences) {
  const int64_t Replicas = *P.Spec.Serve->Replicas * *P.Spec.Parallel.Dp;
  return between(Of, KeyId::RequestsConcurrency, Sequences, Replicas);
}

/// Returns the number of sequences of the graph that an engine replays for so
/// many: powers of two, then multiples of 8 (vLLM, config/compilation.py;
/// SGLang, srt/server_args.py).
static double graphSize(double Sequences) {
  if (Sequences <= 1)
    return 1;
  const double Whole = std::ceil(Sequences);
  return Whole <= 8 ? std::exp2(std::ceil(std::log2(Whole)))
                    : std::ceil(Whole / 8) * 8;
}

double StepClock::operator()(double Sequences, double Tokens) {
  const CostSpec &Cost = P.Spec.Cost;
  double Time = *Cost.kernel(Number::HostStep) * 1e-6 +
                *Cost.kernel(Number::HostSequence) * 1e-6 * Sequences;
  if (Sequences > 0)
    Time += ofSequences(DecodeCached, Sequences);
  if (Tokens <= 0)
    return Time + ofSequences(DecodeRest, graphSize(Sequences));
  // Attention to a prompt is shared by its chunks.
  Time += at(PrefillCached, KeyId::RequestsInput, *P.Spec.Requests->Input) *
          Tokens / promptOf(P.Spec);
  // A prompt of which the cache has not so many tokens.
  const double Others =
      (Tokens + Sequences) / std::max(1 - hitRate(P.Spec), 1e-6);
  return Time + at(PrefillRest, KeyId::RequestsInput,
                   prefixOf(P.Spec) + std::llround(Others));
}

namespace {

/// The fixed point of one replica of attention.
class ContinuousBatching {
public:
  ContinuousBatching(const Program &P, StepClock &Clock);

  ServiceTime run();

private:
  /// A load with so many sequences that decode.
  struct Load {
    double Step;    ///< mean time
    double Share;   ///< of steps with prompts
    double Mixed;   ///< time of one of them
    double Taken;   ///< tokens of prompts in it
    double Prefill; ///< time of a request until its first token
    double Present; ///< requests that this load comes from
  };
  Load loadOf(double Decoding);
  double timeOfPrompt(double Decoding, double Share);

  const Program &P;
  StepClock &Clock;
  double Prompt;  ///< tokens that a step has to prefill
  double Steps;   ///< of a request that decode
  double Budget;  ///< tokens of a step
  double PerStep; ///< tokens of a sequence
};

} // namespace

ContinuousBatching::ContinuousBatching(const Program &P, StepClock &Clock)
    : P(P), Clock(Clock) {
  const RequestsSpec &R = *P.Spec.Requests;
  Prompt = P.Service->Prefill ? promptOf(P.Spec) : 0;
  PerStep = tokensOfStep(P.Spec);
  Steps = std::max(1.0, static_cast<double>(*R.Output - 1) / PerStep);
  Budget = static_cast<double>(*P.Spec.Serve->MaxBatchTokens);
}

/// Returns the time of a prompt that fits into a step, or of its chunks.
double ContinuousBatching::timeOfPrompt(double Decoding, double Share) {
  const double Room = std::max(Budget - Decoding, 1.0);
  if (Prompt == 0)
    return 0;
  if (Prompt <= Room) {
    const double Most = Room / Prompt, Arrive = Decoding / Steps;
    return Clock(Decoding, std::min(Most, 1 + Arrive) * Prompt);
  }
  const double Whole = std::floor(Prompt / Room), Rest = Prompt - Whole * Room;
  const double Time =
      Whole * Clock(Decoding, Room) + (Rest > 0 ? Clock(Decoding, Rest) : 0);
  return Share < 1 ? Time + Share * Time / (2 * (1 - Share)) : Time;
}

ContinuousBatching::Load ContinuousBatching::loadOf(double Decoding) {
  const double Room = std::max(Budget - Decoding, 1.0);
  const double Arrive = Decoding / Steps; // prompts in a step
  double Taken = Room;
  if (Prompt == 0)
    return {Clock(Decoding, 0), 0, 0, Room, 0, Decoding};
  if (Prompt <= Room) {
    const double Most = Room / Prompt;
    Taken =
        Prompt *
        std::min(Most, Arrive < 1e-9 ? 1.0 : Arrive / (1 - std::exp(-Arrive)));
  }
  Load L{};
  L.Share = std::min(1.0, Arrive * Prompt / Taken);
  L.Taken = Taken;
  L.Mixed = Clock(Decoding, Taken);
  L.Step = (1 - L.Share) * Clock(Decoding, 0) + L.Share * L.Mixed;
  L.Prefill = timeOfPrompt(Decoding, L.Share);
  L.Present = Decoding + L.Prefill / L.Step * Arrive;
  return L;
}

ServiceTime ContinuousBatching::run() {
  const ServeSpec &V = *P.Spec.Serve;
  const double Stages = static_cast<double>(*P.Spec.Parallel.Pp);
  const double Replicas =
      static_cast<double>(*V.Replicas * *P.Spec.Parallel.Dp);
  // Micro-batches on their way through stages are replicas in turn.
  const double Wanted =
      static_cast<double>(*P.Spec.Requests->Concurrency) / Replicas / Stages;
  double Places = static_cast<double>(*V.MaxSequences);
  if (P.Capacity.Sequences) {
    const double Needed = static_cast<double>(
        std::max<int64_t>(P.Sizes.value(*P.Capacity.Sequences), 1));
    Places = std::min(Places, Needed / Stages);
  }
  const double Present = std::max(std::min(Wanted, Places), 1.0);
  // Most sequences for which steps still take the prompts that arrive.
  double Least = 0, Most = std::min(Present, Budget * Steps / (Steps + Prompt));
  Load L = loadOf(Most);
  const bool IsPrefill = L.Present < Present && Most < Present;
  if (!IsPrefill)
    for (int I = 0; I < 60; ++I) {
      const double Half = (Least + Most) / 2;
      (loadOf(Half).Present < Present ? Least : Most) = Half;
    }
  L = loadOf(Most);
  ServiceTime T{};
  T.Running = Most;
  T.Token = L.Step / PerStep;
  T.DecodeStep = Clock(Most, 0);
  T.MixedStep = L.Mixed;
  T.MixedShare = L.Share;
  T.RequestsPerSecond = Most / (Steps * L.Step) *
                        static_cast<double>(*P.Spec.Parallel.Dp) * Stages;
  const double Prefill =
      IsPrefill ? (Present - Most) * Steps * L.Step / Most : L.Prefill;
  T.Queue =
      (Wanted - Present) > 0 ? (Wanted - Present) * Steps * L.Step / Most : 0;
  const double Wave = *P.Spec.Cost.kernel(Number::Wave) * Present *
                      (Prompt / L.Taken) * L.Mixed;
  T.FirstToken = Prefill + T.Queue + Wave +
                 *P.Spec.Cost.kernel(Number::HostRequest) * 1e-6;
  T.Bound = IsPrefill     ? ServiceBound::Prefill
            : T.Queue > 0 ? ServiceBound::Cache
                          : ServiceBound::Requests;
  return T;
}

ServiceTime foretrace::serviceTimeOf(const Program &P, StepClock &Clock) {
  return ContinuousBatching(P, Clock).run();
}
