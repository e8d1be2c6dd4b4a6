// SPDX-License-Identifier: Apache-2.0
#include "backends/KnownLayers.h"
#include "lang/diagnostics/Backends.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;

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

bool foretrace::checkKinds(const ir::Spec &S, llvm::StringRef Who,
                           DiagnosticEngine &Diags) {
  static constexpr llvm::StringLiteral Attentions[] = {"mha", "gqa", "mqa",
                                                       "mla"};
  static constexpr llvm::StringLiteral Networks[] = {"dense", "experts"};
  bool AreKnown = true;
  auto Check = [&](const ir::LayerUse &Use,
                   llvm::ArrayRef<llvm::StringLiteral> Known) {
    if (llvm::is_contained(Known, Use.Kind))
      return;
    Diags.report(Use.Range, diag::UnknownKind, Who, Use.Kind);
    AreKnown = false;
  };
  for (const ir::BlockSpec &B : S.Model.Blocks) {
    Check(B.Mixer, Attentions);
    Check(B.Network, Networks);
    if (const auto *Latent = B.Network.find<int64_t>("latent");
        hasExperts(B) && **Latent > 0) {
      Diags.report(Latent->Range, diag::UnknownKind, Who, "latent experts");
      AreKnown = false;
    }
  }
  return AreKnown;
}
