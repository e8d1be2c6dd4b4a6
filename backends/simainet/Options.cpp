// SPDX-License-Identifier: Apache-2.0
#include "backends/simainet/Options.h"
#include "backends/EmitOptions.h"

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::simainet;

Options simainet::readOptions(const EmitSpec &Emit, DiagnosticEngine &Diags) {
  static constexpr EmitOption<Options> Rows[] = {
      {"dir", [](const NamedAttribute &A, Options &O,
                 DiagnosticEngine &D) { readDir(A, O.Files.Dir, D); }},
      {"name", [](const NamedAttribute &A, Options &O,
                  DiagnosticEngine &D) { readName(A, O.Files.Name, D); }},
      {"gpu", [](const NamedAttribute &A, Options &O, DiagnosticEngine &D) {
         readGpu(A, O.Servers, D);
       }}};
  Options O;
  readEmitOptions<Options>(Emit, Rows, {}, O, Diags);
  return O;
}
