// SPDX-License-Identifier: Apache-2.0
//
// The `aicb` backend: the CSV workloads that the public generator writes, byte
// for byte. Like `accounting = aicb` of the `simai` backend it imitates a tool:
// it reads the spec, and its formulas are that tool's and concern nobody else.
// docs/aicb.md says what they get wrong.
#include "backends/EmissionOf.h"
#include "backends/KnownLayers.h"
#include "backends/aicb/Inference.h"
#include "backends/aicb/Options.h"
#include "backends/aicb/Weights.h"
#include "backends/aicb/Workload.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::aicb;

namespace {

/// Reports what the generator's programs can't write, or write as if the job
/// were another one.
class Checker {
public:
  Checker(const ir::Spec &S, const ir::EmitSpec &Emit, const Options &O,
          DiagnosticEngine &Diags)
      : S(S), Emit(Emit), O(O), Diags(Diags) {}

  void deepSpeed();
  void megatron();

private:
  void zero(int64_t Least, int64_t Most);
  void deepSpeedSizes();
  void megatronSizes();
  template <typename T>
  void ignored(llvm::StringRef Key, const Located<T> &Value, T Only);
  void recompute();
  void needVersion(SourceRange R, llvm::StringRef What, Version Least);
  template <typename Unit> void fits(Quantity<Unit> Size, llvm::StringRef What);

  const ir::Spec &S;
  const ir::EmitSpec &Emit;
  const Options &O;
  DiagnosticEngine &Diags;
};

} // namespace

/// Whatever the program does with a key: as if it were \p Only.
template <typename T>
void Checker::ignored(llvm::StringRef Key, const Located<T> &Value, T Only) {
  if (*Value == Only)
    return;
  if constexpr (std::is_enum_v<T>)
    Diags.report(Value.Range, diag::AicbIgnored, Key, ir::getSpelling(*Value),
                 getWord(O.Kind));
  else
    Diags.report(Value.Range, diag::AicbIgnored, Key, *Value, getWord(O.Kind));
}

void Checker::recompute() {
  for (const ir::BlockSpec &B : S.Model.Blocks)
    if (const auto &Key = S.recomputeOf(B); *Key != ir::RecomputeKind::None)
      return ignored("recompute", Key, ir::RecomputeKind::None);
}

void Checker::zero(int64_t Least, int64_t Most) {
  const Located<int64_t> &Zero = S.Parallel.Zero;
  if (*Zero >= Least && *Zero <= Most)
    return;
  // A refused default is reported at the `emit` block.
  const SourceRange At = Zero.isStated() ? Zero.Range : Emit.Range;
  Diags
      .report(At, diag::AicbZero, *Zero, getWord(O.Kind),
              llvm::formatv("ZeRO stages {0} to {1}", Least, Most).str())
      .note(At, diag::NearestLegal, "zero", std::clamp(*Zero, Least, Most));
}

void Checker::needVersion(SourceRange R, llvm::StringRef What, Version Least) {
  if (O.Version < Least)
    Diags.report(R, diag::AicbVersion, getSpelling(O.Version), What,
                 getSpelling(Least));
}

template <typename Unit>
void Checker::fits(Quantity<Unit> Size, llvm::StringRef What) {
  if (Size.isOverflow())
    Diags.report(S.Model.Range, diag::SizeOverflow, What);
}

/// No bucket holds more than the gradients of all micro-batches.
void Checker::deepSpeedSizes() {
  const GeneratorJob J = GeneratorJob::of(S, O.Version);
  const Elements All = Weights(J).count();
  fits(bytesOf(All * std::max<int64_t>(J.Ga, 1) + Elements(J.Dp), 2),
       "a bucket of the workload");
  fits(Elements(J.MicroBatch) * J.Sequence, "micro_batch x sequence");
}

void Checker::deepSpeed() {
  const ir::ParallelSpec &P = S.Parallel;
  zero(1, 3);
  checkShares(P, Diags);
  if (O.Amp && *P.Zero < 3)
    Diags.report(P.Zero.Range, diag::AicbAmp, *P.Zero);
  ignored<int64_t>("tp", P.Tp, 1);
  ignored<int64_t>("pp", P.Pp, 1);
  ignored<int64_t>("cp", P.Cp, 1);
  recompute();
  for (const ir::BlockSpec &B : S.Model.Blocks) {
    if (hasLatentAttention(B))
      Diags.report(B.Mixer.Range, diag::AicbIgnored, "attention", B.Mixer.Kind,
                   getWord(O.Kind));
    if (hasExperts(B))
      ignored<int64_t>("experts", B.Network.number("experts"), 1);
  }
  deepSpeedSizes();
}

void Checker::megatronSizes() {
  const GeneratorJob J = GeneratorJob::of(S, O.Version);
  const Elements Tokens = Elements(J.MicroBatch) * J.Sequence;
  const int64_t Widest = std::max({J.Hidden, J.QLora, J.KvLora});
  fits(bytesOf(countParams(J).Objects, 4), "a message of the workload");
  fits(bytesOf(Tokens * Widest * std::max<int64_t>(J.TopK, 1), 2),
       "a message of the workload");
  fits(bytesOf(Tokens + Elements(J.World), 8), "a message of the workload");
  fits(Tokens * J.Tp, "micro_batch x sequence x tp");
  fits(Bytes(2) * J.Ep * J.Experts * J.Tp, "a message of the workload");
}

void Checker::megatron() {
  const ir::ParallelSpec &P = S.Parallel;
  checkJob(S, Diags);
  zero(0, 1);
  ignored<int64_t>("vpp", P.Vpp, 1);
  recompute();
  if (*P.Pp > 1 && O.Epochs > 0)
    needVersion(P.Pp.Range, "pipelines", Version::V2024_12);
  for (const ir::BlockSpec &B : S.Model.Blocks)
    if (hasLatentAttention(B))
      needVersion(B.Mixer.Range, "latent attention", Version::V2025_09_15);
  megatronSizes();
}

static void checkEffects(const ir::EmitSpec &Emit, const Options &O,
                         int64_t Zero, DiagnosticEngine &Diags) {
  std::string With = ("with `kind = " + getWord(O.Kind) + "`").str();
  if (O.Kind == Kind::DeepSpeed)
    With += " and zero = " + std::to_string(Zero);
  for (const ir::NamedAttribute &A : Emit.Options.Fields)
    if (!(modesOf(A.Name) & modeOf(O, Zero)))
      Diags.report(A.NameRange, diag::KeyWithoutEffect, A.Name, With);
}

/// Returns whether \p S has a workload; reports why not, and options without
/// effect.
static bool checkWorkload(const ir::Spec &S, const ir::EmitSpec &Emit,
                          const Options &O, DiagnosticEngine &Diags) {
  const unsigned Before = Diags.errorCount();
  Checker C(S, Emit, O, Diags);
  if (O.Kind == Kind::DeepSpeed)
    C.deepSpeed();
  else if (O.Kind == Kind::Megatron)
    C.megatron();
  checkEffects(Emit, O, *S.Parallel.Zero, Diags);
  return Diags.errorCount() == Before;
}

ir::FactSet foretrace::aicb::needs(const Options &) {
  return {ir::Fact::Complete};
}

/// Writes two rows of each layer: attention, and the network or experts.
static void writeVidur(const ir::Spec &S, llvm::raw_ostream &OS) {
  const InferenceStep Step(S);
  struct Half {
    int64_t Time = 0, Size = 0;
  };
  int64_t Layer = 0;
  auto Write = [&](const ir::BlockSpec &B) {
    Half Attention, Network;
    for (const InferenceRow &R : Step.rowsOf(B)) {
      Half &Of = R.Name.starts_with("attention") ? Attention : Network;
      // Its route is no layer of DeepSeek's model, so that it has no time.
      Of.Time += Step.isDeepSeek() && R.Name == "moe_route" ? 0 : 1;
      Of.Size += R.Size.value();
    }
    OS << Layer << "\tattention\t" << Attention.Time << '\t' << Attention.Size
       << '\n'
       << Layer << (hasExperts(B) ? "\tmoe\t" : "\tmlp\t") << Network.Time
       << '\t' << Network.Size << '\n';
    ++Layer;
  };
  OS << "layer_id\tlayer_name\tcomp_time\tcomm_size\n";
  for (const ir::LayerRun &R : S.Model.Layers)
    for (int64_t Period = 0; Period < R.Periods; ++Period)
      for (const ir::LayerRun::Item &I : R.Items)
        for (int64_t N = 0; N < I.Count; ++N)
          Write(S.Model.Blocks[I.Block]);
}

bool foretrace::aicb::check(const EmitRequest &Request, const Options &O,
                            DiagnosticEngine &Diags) {
  const ir::Spec &S = Request.Program.Spec;
  const bool IsOfServing = O.Kind == Kind::Vidur;
  if (IsOfServing != S.Serve.has_value()) {
    Diags.report(Request.Emit.Range, diag::AicbServes, getWord(O.Kind),
                 IsOfServing ? "serves" : "trains");
    return false;
  }
  if (IsOfServing) {
    constexpr double BytesOfLayer = 64;
    checkEffects(Request.Emit, O, *S.Parallel.Zero, Diags);
    return checkInference(S, Diags) &&
           Request.hasRoom(static_cast<double>(S.Model.layerCount()) *
                               BytesOfLayer,
                           Diags);
  }
  if (!checkKinds(S, "the public generator", Diags) ||
      !checkWorkload(S, Request.Emit, O, Diags))
    return false;
  constexpr double BytesOfRow = 48; // that ends an epoch, or sends
  auto Rows = static_cast<double>(O.Epochs);
  if (O.Kind == Kind::Megatron)
    Rows *= static_cast<double>(*S.Parallel.Ga);
  if (O.Kind == Kind::Collective)
    Rows = static_cast<double>(O.Repeats);
  return Request.hasRoom(Rows * BytesOfRow, Diags);
}

llvm::Error foretrace::aicb::emit(const EmitRequest &Request, const Options &O,
                                  OutputSet &Out) {
  return Out.add(Request.file(O.File, ".csv"), [&](OutputStream &OS) {
    if (O.Kind == Kind::Vidur)
      return writeVidur(Request.Program.Spec, OS);
    makeWorkload(Request.Program.Spec, O, OS)->write();
  });
}
