// SPDX-License-Identifier: Apache-2.0
//
// Measured durations of kernels and collectives, from the files of benchmarks
// and profilers.
#pragma once

#include "analysis/KernelLaws.h"
#include "analysis/LinkLaws.h"
#include "ir/model/Program.h"
#include "lang/Diagnostic.h"
#include "lang/SourceFiles.h"
#include <variant>

namespace foretrace::fit {

struct CollectiveShape {
  ir::OpKind Kind;
  LinkPlace At;
  double Size; ///< as NCCL tests count it (ir::messageBytes)
};

struct Measurement {
  using Shapes =
      std::variant<ProductShape, AttentionShape, StreamShape, CollectiveShape>;
  Shapes Shape;
  double Seconds;
};

/// The machine as readers know it, and the place for their results.
struct MeasurementReader {
  const ir::Program &Job; ///< on the machine; with a cluster
  const SourceFiles &Sources;
  DiagnosticEngine &Diags;
  std::vector<Measurement> &Found;

  /// Reads a file in one of the formats below, by how it begins.
  void read(FileId File);

  /// Reads CSV as `foretrace shapes` writes it, with measured durations.
  void readTable(SourceText Text);
  /// Reads the table of CUTLASS's profiler: the fastest kernel of each product.
  void readCutlass(SourceText Text);
  /// Reads what one of NCCL tests' programs prints.
  void readNcclTests(SourceText Text);
  /// Reads the compute profile that AICB writes of \p Job (AIOB).
  void readAiob(SourceText Text);
  /// Reads a trace of PyTorch's profiler with shapes (`record_shapes=True`): of
  /// a kernel's shape the median, of a collective's the least duration, since
  /// all others include waiting.
  void readTrace(SourceText Text);

  /// Reports products in types for which the device has no peak rate, and drops
  /// them; \p From is the first measurement of \p Text.
  void checkRates(SourceText Text, size_t From);
  /// Returns the place of \p Ranks ranks, \p OnDomain of them in each domain of
  /// the innermost tier.
  LinkPlace placeOf(double Ranks, double OnDomain) const;
  /// Returns the devices of a domain of the innermost tier.
  double devicesOfDomain() const;
};

} // namespace foretrace::fit
