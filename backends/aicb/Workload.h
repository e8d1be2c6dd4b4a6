// SPDX-License-Identifier: Apache-2.0
//
// The loop over iterations and micro-batches, which the generator's programs
// have in common. Each program adds its messages. Private to the
// backend.
#pragma once

#include "backends/aicb/Options.h"
#include <memory>

namespace foretrace::aicb {

/// Sizes have passed checkWorkload(), so arithmetic on them can't overflow.
class Workload {
public:
  Workload(const ir::Spec &S, const Options &O, OutputStream &OS)
      : J(GeneratorJob::of(S, O.Version)), O(O), Out(OS, O.Version) {}
  virtual ~Workload();

  /// Writes all of it; may be called once.
  void write();

protected:
  virtual void init() = 0;
  virtual void forward() {}
  virtual void backward() {}
  virtual void step() = 0;
  /// Steps of a pipeline, in place of forward and backward.
  virtual void pipeline() {}

  Members dataParallel() const { return {CommGroup::Dp, J.Dp}; }
  Members tensorParallel() const { return {CommGroup::Tp, J.Tp}; }

  const GeneratorJob J;
  const Options O;
  LogItemWriter Out;
};

/// The program that \p O asks for.
std::unique_ptr<Workload> makeWorkload(const ir::Spec &S, const Options &O,
                                       OutputStream &OS);

std::unique_ptr<Workload> makeZero12(const ir::Spec &S, const Options &O,
                                     OutputStream &OS);
std::unique_ptr<Workload> makeZero3(const ir::Spec &S, const Options &O,
                                    OutputStream &OS);
std::unique_ptr<Workload> makeMegatron(const ir::Spec &S, const Options &O,
                                       OutputStream &OS);
std::unique_ptr<Workload> makeCollective(const ir::Spec &S, const Options &O,
                                         OutputStream &OS);

} // namespace foretrace::aicb
