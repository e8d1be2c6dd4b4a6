// SPDX-License-Identifier: Apache-2.0
//
// The `chakra` backend: an execution trace of Chakra's schema 1.0.0 for every
// rank, and the file of its communicator groups, for ASTRA-sim. Private
// headers beside this one say how.
#pragma once

#include "backends/Backend.h"
#include "backends/chakra/Options.h"

namespace foretrace::chakra {

ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, const Options &O, OutputSet &Out);
/// Derives a node of the trace of a rank: the bytes of a communication node;
/// FLOPs, bytes and time of a compute node.
llvm::Expected<std::vector<Subject>>
locate(const EmitRequest &Request, const Options &O, const CellQuery &Asked);

} // namespace foretrace::chakra
