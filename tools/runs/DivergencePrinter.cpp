// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/DivergencePrinter.h"

namespace foretrace::runs {

DivergencePrinter::~DivergencePrinter() = default;
void DivergencePrinter::print(const Communicators::First &) {}
void DivergencePrinter::omitCommunicators(size_t) {}

} // namespace foretrace::runs
