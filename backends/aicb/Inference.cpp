// SPDX-License-Identifier: Apache-2.0
#include "backends/aicb/Inference.h"
#include "backends/KnownLayers.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::aicb;

/// A prompt in prefill, of which there is one whatever the batch is; a token of
/// each sequence in decode.
static int64_t tokensOf(const ir::Spec &S) {
  return S.Serve->Name == "prefill" ? *S.Requests->Input
                                    : *S.Requests->Concurrency;
}

/// Choices of a token; 0 without experts.
static int64_t choicesOf(const ir::Spec &S) {
  for (const ir::BlockSpec &B : S.Model.Blocks)
    if (hasExperts(B))
      return *B.Network.number("topk");
  return 0;
}

InferenceStep::InferenceStep(const ir::Spec &S)
    : S(S), IsDeepSeek(llvm::any_of(S.Model.Blocks, hasLatentAttention)),
      OfTokens(Bytes(2) * tokensOf(S) * *S.Model.Hidden),
      Combine((OfTokens * choicesOf(S)).dividedDown(*S.Parallel.Tp)),
      // A byte for each element, and a scale in fp32 for 128 of them.
      Dispatch((Combine * 33).dividedDown(64)) {}

std::vector<InferenceRow>
InferenceStep::rowsOf(const ir::BlockSpec &B) const {
  using Row = InferenceRow;
  using Message = Row::Message;
  const bool IsSplit = *S.Parallel.Tp > 1;
  auto Reduced = [&](llvm::StringRef Name) {
    return IsSplit ? Row{Name, Message::AllReduce, false, OfTokens} : Row{Name};
  };
  const Row Route{"moe_route", Message::AllToAll, true, Dispatch},
      Experts{"moe_expert", Message::AllToAll, true, Combine};
  if (IsDeepSeek && !hasExperts(B))
    return {Reduced("attention_layer"), Reduced("dense_mlp")};
  if (IsDeepSeek)
    return {Reduced("attention_layer"), {"shared_experts"}, Route, Experts};
  return {{"attention_norm"},
          Reduced(B.Mixer.Kind == "gated_delta_net" ? "attention_gdn"
                                                    : "attention_layer"),
          {"moe_norm"},
          Route,
          Experts};
}

Bytes InferenceStep::stageMessage() const {
  return *S.Parallel.Pp == 1 ? Bytes()
                             : Bytes(2) * *S.Requests->Concurrency *
                                   *S.Requests->Input * *S.Model.Hidden;
}

/// Reports layers that the generator does not have.
static bool checkLayers(const ir::Spec &S, DiagnosticEngine &Diags) {
  const bool IsDeepSeek = llvm::any_of(S.Model.Blocks, hasLatentAttention);
  static constexpr llvm::StringLiteral Others[] = {"mha", "gqa",
                                                   "gated_delta_net"};
  bool AreKnown = true;
  for (const ir::BlockSpec &B : S.Model.Blocks) {
    const bool HasAttention = IsDeepSeek
                                  ? hasLatentAttention(B)
                                  : llvm::is_contained(Others, B.Mixer.Kind);
    const bool HasNetwork =
        hasExperts(B) || (IsDeepSeek && B.Network.Kind == "dense");
    if (HasAttention && HasNetwork)
      continue;
    const ir::LayerUse &Of = HasAttention ? B.Network : B.Mixer;
    Diags.report(Of.Range, diag::UnknownVariant,
                 "the public generator's inference", Of.Kind);
    AreKnown = false;
  }
  return AreKnown;
}

/// The generator asserts that tp divides the widths of DeepSeek's projections.
static bool checkWidths(const ir::Spec &S, DiagnosticEngine &Diags) {
  const Located<int64_t> &Tp = S.Parallel.Tp;
  const auto Of = llvm::find_if(S.Model.Blocks, [](const ir::BlockSpec &B) {
    return hasLatentAttention(B) && hasExperts(B);
  });
  if (Of == S.Model.Blocks.end())
    return true;
  auto Key = [&](llvm::StringRef Name) { return *Of->Mixer.number(Name); };
  const int64_t Heads = Key("heads"), Nope = Key("nope_dim"),
                Expert = *Of->Network.number("intermediate");
  for (const int64_t Width :
       {Heads * (Nope + Key("rope_dim")), Heads * (Nope + Key("v_dim")),
        Heads * Key("v_dim"), 2 * Expert, Expert, *S.Model.Vocab})
    if (Width % *Tp != 0) {
      Diags.report(Tp.Range, diag::AicbWidth, Width, *Tp);
      return false;
    }
  return true;
}

bool foretrace::aicb::checkInference(const ir::Spec &S,
                                     DiagnosticEngine &Diags) {
  if (!checkLayers(S, Diags) || !checkWidths(S, Diags))
    return false;
  const ir::ParallelSpec &P = S.Parallel;
  for (const Located<int64_t> *Size : {&P.Tp, &P.Ep})
    if (*P.World < **Size) {
      Diags.report(P.World.Range, diag::AicbWorld, *P.World, *P.Tp, *P.Ep);
      return false;
    }
  const InferenceStep Step(S);
  bool Fits = !Step.stageMessage().isOverflow();
  for (const ir::BlockSpec &B : S.Model.Blocks)
    for (const InferenceRow &R : Step.rowsOf(B))
      Fits &= !R.Size.isOverflow();
  if (!Fits)
    Diags.report(S.Model.Range, diag::SizeOverflow, "a message of the table");
  return Fits;
}
