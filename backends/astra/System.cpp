// SPDX-License-Identifier: Apache-2.0
#include "backends/CommandLine.h"
#include "backends/astra/Writers.h"
#include "llvm/Support/JSON.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::astra;

bool astra::hasRoofline(const Spec &S, const Options &O) {
  return O.HasRoofline.value_or(*S.Cost.Kind == CostKind::Uncosted);
}

static void writeNumber(llvm::json::OStream &J, llvm::StringRef Key,
                        llvm::StringRef Text) {
  J.attributeBegin(Key);
  J.rawValue(Text);
  J.attributeEnd();
}

/// ASTRA-sim takes a list of any length; if it isn't that of the dimensions, it
/// leaves some out or aborts.
static void writeAlgorithms(const Options &O,
                            llvm::ArrayRef<NetworkDimension> Dimensions,
                            llvm::json::OStream &J) {
  for (auto [Row, Chosen] : llvm::zip(Collectives, O.Chosen))
    J.attributeArray(Row.Key, [&, &Row = Row, &Chosen = Chosen] {
      for (const NetworkDimension &D : Dimensions)
        J.value(getName(Chosen.isPresent() ? *Chosen
                                           : D.algorithm(Row.Kind, O.Network)));
    });
}

void astra::writeSystem(const Spec &S, const Options &O,
                        llvm::ArrayRef<NetworkDimension> Dimensions,
                        llvm::raw_ostream &OS) {
  constexpr unsigned Giga = 9, Tera = 12; // powers of ten, whatever GiB are
  const DeviceSpec Device = S.rooflineDevice();
  llvm::json::OStream J(OS, 2);
  J.object([&] {
    J.attribute("scheduling-policy", "LIFO");
    J.attribute("endpoint-delay", O.EndpointDelay);
    J.attribute("active-chunks-per-dimension", 1);
    J.attribute("preferred-dataset-splits", O.Splits);
    writeAlgorithms(O, Dimensions, J);
    J.attribute("collective-optimization", "localBWAware");
    writeNumber(J, "local-mem-bw",
                decimalFraction(*Device.MemoryBandwidth, Giga));
    if (Device.PeakFlops.isPresent())
      writeNumber(J, "peak-perf", decimalFraction(*Device.PeakFlops, Tera));
    J.attribute("roofline-enabled", hasRoofline(S, O) ? 1 : 0);
  });
  J.flush();
  OS << '\n';
}

void astra::writeMemory(llvm::raw_ostream &OS) {
  llvm::json::OStream J(OS, 2);
  J.object([&] { J.attribute("memory-type", "NO_MEMORY_EXPANSION"); });
  J.flush();
  OS << '\n';
}
