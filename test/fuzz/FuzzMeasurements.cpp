// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as measurements: they are fitted, or there is a diagnostic.
#include "ir/model/Facts.h"
#include "lang/DiagnosticClient.h"
#include "tools/compiler/Compiler.h"
#include "tools/fit/ProfileFit.h"
#include <cstdlib>

using namespace foretrace;

static constexpr char Job[] = R"(
import "clusters/h100.toml" as pod
model m { vocab = 512  hidden = 256  attention mha { heads = 4 }
  ffn { intermediate = 512 }
  layers = 2 }
train { sequence = 1Ki  micro_batch = 1 }
parallel { world = 16 }
cluster : pod { nodes = 2 }
)";

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  static Compiler Session;
  static const ir::Program *P = [] {
    Session.setText("job.fore", Job);
    return Session.read("job.fore").program({ir::Fact::Costs});
  }();
  SourceFiles Sources;
  const FileId File =
      Sources.add({reinterpret_cast<const char *>(Data), Size}, "measured");
  DiagnosticEngine Diags;
  std::vector<fit::Measurement> Found;
  fit::MeasurementReader{*P, Sources, Diags, Found}.read(File);
  showAll(Diags, Sources, *makeTextClient(llvm::nulls()));
  if (Diags.hasErrors())
    return 0;
  if (Found.empty())
    std::abort();
  fit::ProfileFit Fitted(P->Spec);
  Fitted.fit(Found);
  Fitted.writeProfile(llvm::nulls());
  for (size_t I = 0; I < ir::kernelParameters().size(); ++I) {
    const auto Id = static_cast<ir::KernelParameterId>(I);
    const double Value = Fitted.after()[Id];
    if (Fitted.after().has(Id) &&
        !(Value >= getInfo(Id).Least && Value <= getInfo(Id).Most))
      std::abort();
  }
  return 0;
}
