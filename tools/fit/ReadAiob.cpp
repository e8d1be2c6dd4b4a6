// SPDX-License-Identifier: Apache-2.0
#include "analysis/Analyses.h"
#include "analysis/KernelTimes.h"
#include "analysis/OpTimes.h"
#include "ir/model/OpKinds.h"
#include "lang/diagnostics/Tools.h"
#include "tools/fit/Measurements.h"

using namespace llvm;

namespace foretrace::fit {

/// The name of a section in the file, without what only some have.
static StringRef sectionName(StringRef Name) {
  Name.consume_back("_avg");
  Name.consume_back("_time");
  return Name;
}

/// Returns the measurement of \p O, if its class is one that AIOB measures.
static std::optional<Measurement> measurementOf(const ir::Program &P,
                                                const ir::Block &B,
                                                const ir::Op &O,
                                                double Seconds) {
  ir::ExprOverlay Sizes(P);
  switch (const KernelClass C = kernelClassOf(P, B, O)) {
  case KernelClass::Product:
  case KernelClass::GroupedProduct:
    return Measurement{valuesOf(productShapeOf(Sizes, B, O)), Seconds};
  case KernelClass::Attention:
    return Measurement{valuesOf(attentionShapeOf(Sizes, B, O)), Seconds};
  case KernelClass::Stream:
  case KernelClass::Embedding:
  case KernelClass::Optimizer: {
    const ir::Expr Touched = touchedBytes(Sizes, B, O);
    if (!Touched.hasValue())
      return std::nullopt;
    return Measurement{
        valuesOf(KernelTimes(Sizes).streamShapeOf(C, B, O, Touched)), Seconds};
  }
  default:
    return std::nullopt;
  }
}

/// Returns the first forward op, or the optimizer, that \p Section times.
static std::optional<Measurement> find(const ir::Program &P, StringRef Section,
                                       double Seconds) {
  for (const ir::Block &B : P.Blocks)
    for (const ir::Op &O : B.Ops) {
      const bool IsTimed =
          O.Phase == ir::Phase::Forward || O.Kind == ir::OpKind::Optimizer;
      const StringRef Own = sectionOf(O);
      if (IsTimed && !Own.empty() && sectionName(Own) == sectionName(Section))
        return measurementOf(P, B, O, Seconds);
    }
  return std::nullopt;
}

/// A section has a line with its name, and lines with its times in us:
/// `time_gpu_avg: 889`.
void MeasurementReader::readAiob(SourceText Text) {
  StringRef Section;
  for (StringRef Rest = Text.str(); !Rest.empty();) {
    StringRef Line;
    std::tie(Line, Rest) = Rest.split('\n');
    const auto [Key, Value] = Line.split(':');
    if (Value.trim().empty()) {
      Section = Key.trim();
      continue;
    }
    if (Key.trim() != "time_gpu_avg")
      continue;
    double Micros = 0;
    if (Value.trim().getAsDouble(Micros) || !(Micros > 0)) {
      Diags.report(Text.rangeOf(Value.trim()), diag::MeasurementCell,
                   "time_gpu_avg");
    } else if (std::optional<Measurement> M =
                   find(Job, Section, Micros * 1e-6)) {
      Found.push_back(*M);
    } else {
      Diags.report(Text.rangeOf(Section), diag::MeasurementSection, Section);
    }
  }
}

} // namespace foretrace::fit
