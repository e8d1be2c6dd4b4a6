// SPDX-License-Identifier: Apache-2.0
#include "backends/KnownLayers.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Backends.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

bool foretrace::hasLatentAttention(const ir::BlockSpec &B) {
  return B.Mixer.Kind == "mla";
}

bool foretrace::hasExperts(const ir::BlockSpec &B) {
  return B.Network.Kind == "experts";
}

bool foretrace::isGated(const ir::BlockSpec &B) {
  const std::string &Activation = *B.Network.word("activation");
  return Activation == "swiglu" || Activation == "geglu";
}

namespace {

/// A key of the library's layers that no imitated tool has, and its value
/// without effect.
struct AbsentKey {
  llvm::StringLiteral Name, Off;
};

} // namespace

static constexpr AbsentKey AbsentKeys[] = {
    {"v_dim", "0"},
    {"window", "0"},
    {"chunk", "0"},
    {"causal", "true"},
    {"sinks", "false"},
    {"shared_kv", "false"},
    {"qk_norm_kind", "head"},
    {"latent", "0"},
    {"zero_experts", "0"},
    {"router_linear_bias", "false"},
    {"latent_norm", "false"},
    {"output_scale", "false"},
    {"output_gate", "none"},
    {"capacity_percent", "0"},
    {"capacity_padded", "true"},
    {"shared_overlap", "false"},
};

static std::string textOf(const Located<int64_t> &V) {
  return std::to_string(*V);
}
static std::string textOf(const Located<bool> &V) {
  return *V ? "true" : "false";
}
static std::string textOf(const Located<std::string> &V) { return *V; }

/// Returns the first key with an effect that no imitated tool has, as the job
/// says it, and where.
static std::optional<std::pair<std::string, SourceRange>>
findAbsent(const ModelSpec &M, const LayerUse &Use) {
  for (const LayerKey &K : Use.Keys) {
    if (!K.isPresent() || (Use.Kind == "mla" && K.Name == "v_dim"))
      continue;
    const auto [Text, Range] = std::visit(
        [](const auto &V) { return std::pair(textOf(V), V.Range); }, K.Value);
    const auto *Row = llvm::find_if(
        AbsentKeys, [&](const AbsentKey &A) { return A.Name == K.Name; });
    const bool IsOff = K.Name == "qkv_bias"      ? Text == textOf(M.QkvBias)
                       : K.Name == "output_bias" ? Text == textOf(M.Bias)
                       : K.Name == "dispatcher"  ? Text != "flex"
                       : K.Name == "activation"
                           ? Text != "squared_relu" && Text != "xielu"
                           : Row == std::end(AbsentKeys) || Text == Row->Off;
    if (!IsOff)
      return std::pair(K.Name + " = " + Text, Range);
  }
  return std::nullopt;
}

/// Reports parts of the model besides its layers.
static bool checkModel(const ModelSpec &M, llvm::StringRef Who,
                       DiagnosticEngine &Diags) {
  bool AreKnown = true;
  auto Check = [&](bool IsKnown, SourceRange At, llvm::StringRef What) {
    if (!IsKnown)
      Diags.report(At, diag::UnknownVariant, Who, What);
    AreKnown &= IsKnown;
  };
  Check(*M.NormPlacement == NormPlacementKind::Pre, M.NormPlacement.Range,
        ("norm_placement = " + getSpelling(*M.NormPlacement)).str());
  Check(*M.Norm != NormKind::LayerNormNoBias, M.Norm.Range,
        ("norm = " + getSpelling(*M.Norm)).str());
  Check(*M.Vocab > 0, M.Vocab.Range, "vocab = 0");
  Check(!*M.EmbeddingNorm, M.EmbeddingNorm.Range, "embedding_norm = true");
  Check(*M.EmbeddingWidth == 0, M.EmbeddingWidth.Range, "embedding_width");
  Check(!*M.HeadBias, M.HeadBias.Range, "head_bias = true");
  return AreKnown;
}

/// Reports types of tensors other than that of the job, for which no output of
/// a tool was available for comparison.
static bool checkTypes(const ir::Spec &S, llvm::StringRef Who,
                       DiagnosticEngine &Diags) {
  if (!S.Train.Precision.isPresent()) // a log without a job
    return true;
  const auto Plain = static_cast<TypeKind>(*S.Train.Precision);
  bool AreKnown = true;
  auto Check = [&](llvm::StringRef Name, const Located<TypeKind> &Type) {
    if (!Type.isPresent() || *Type == Plain)
      return;
    Diags.report(Type.Range, diag::UnknownVariant, Who,
                 (Name + " = " + getSpelling(*Type)).str());
    AreKnown = false;
  };
  const TrainSpec &T = S.Train;
  Check("compute_precision", T.ComputePrecision);
  Check("activation_precision", T.ActivationPrecision);
  Check("weight_precision", T.WeightPrecision);
  if (T.GatherPrecision.isStated()) // else it follows from weight_precision
    Check("gather_precision", T.GatherPrecision);
  Check("dispatch_precision", T.DispatchPrecision);
  Check("combine_precision", T.CombinePrecision);
  for (const BlockSpec &B : S.Model.Blocks)
    Check("compute_precision", B.ComputePrecision);
  if (T.ReducePrecision.isPresent() && T.GradPrecision.isPresent() &&
      *T.ReducePrecision != static_cast<TypeKind>(*T.GradPrecision)) {
    Diags.report(
        T.ReducePrecision.Range, diag::UnknownVariant, Who,
        ("reduce_precision = " + getSpelling(*T.ReducePrecision)).str());
    AreKnown = false;
  }
  return AreKnown;
}

bool foretrace::checkKinds(const ir::Spec &S, llvm::StringRef Who,
                           DiagnosticEngine &Diags) {
  static constexpr llvm::StringLiteral Attentions[] = {"mha", "gqa", "mqa",
                                                       "mla"};
  static constexpr llvm::StringLiteral Networks[] = {"dense", "experts"};
  bool AreKnown = checkModel(S.Model, Who, Diags);
  if (const Located<std::string> &R = S.Train.Routing; R.isPresent()) {
    Diags.report(R.Range, diag::UnknownVariant, Who, "uneven routing");
    AreKnown = false;
  }
  AreKnown &= checkTypes(S, Who, Diags);
  auto Check = [&](const ir::LayerUse &Use,
                   llvm::ArrayRef<llvm::StringLiteral> Known) {
    if (!llvm::is_contained(Known, Use.Kind)) {
      Diags.report(Use.Range, diag::UnknownKind, Who, Use.Kind);
      AreKnown = false;
    } else if (const auto Absent = findAbsent(S.Model, Use)) {
      Diags.report(Absent->second, diag::UnknownVariant, Who, Absent->first);
      AreKnown = false;
    }
  };
  for (const ir::BlockSpec &B : S.Model.Blocks) {
    Check(B.Mixer, Attentions);
    Check(B.Network, Networks);
  }
  return AreKnown;
}
