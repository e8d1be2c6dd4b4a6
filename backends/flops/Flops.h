// SPDX-License-Identifier: Apache-2.0
//
// The `flops` backend: what a job computes, and which share of the devices'
// peak that is.
#ifndef FORETRACE_BACKENDS_FLOPS_FLOPS_H
#define FORETRACE_BACKENDS_FLOPS_FLOPS_H

#include "backends/Figures.h"

namespace foretrace::flops {

/// How scores that a causal mask hides count.
enum class AttentionCount : unsigned char {
  Causal, ///< not at all: Megatron-LM, since core 0.12
  Full    ///< as the others: Narayanan et al. 2021, Korthikanti et al. 2022
};

/// How hardware FLOPs count what selective recomputation computes again.
enum class HardwareCount : unsigned char {
  Executed,
  /// 72 B L s h^2 (1 + s/3h + V/12hL): as if its backward, too, were done
  /// again.
  Korthikanti
};

struct Options {
  std::string File; ///< empty: from the job's name
  RowFormat Format = RowFormat::Table;
  AttentionCount Attention = AttentionCount::Causal;
  bool Router = true;
  bool Embedding = false;
  HardwareCount Hardware = HardwareCount::Executed;
  std::optional<int64_t> Time; ///< of an iteration, ns
};

llvm::ArrayRef<EmitOption> optionTable();
Options readOptions(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
/// Writes the FLOPs of a token and of an iteration, by kind of layer and of
/// stage; forward, backward, and computed again. A multiply-add is two.
llvm::Error emit(const EmitRequest &Request, const Options &O, OutputSet &Out);
Figures figures(const EmitRequest &Request, const Options &O);

} // namespace foretrace::flops

#endif
