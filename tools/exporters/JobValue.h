// SPDX-License-Identifier: Apache-2.0
//
// A job as a value whose members formulas read, as they read the keys of a
// foreign file. Private to this folder.
#pragma once

#include "ir/model/Spec.h"
#include "lang/Diagnostic.h"
#include "lang/SourceFiles.h"
#include "tools/importers/formulas/ForeignValue.h"

namespace foretrace::exporters {

/// The sections `model`, `train` and `parallel` of \p S, and `layers`, a list
/// with `attention`, `ffn` and the keys of the block of each layer. Each kind
/// of sublayer is its member `kind`. A job that serves has `requests` and the
/// stated keys of `serve`, and in `library` the title of its model, its id at
/// Hugging Face, and the type of its published weights.
importers::ForeignValue valueOf(const ir::Spec &S, SourceFiles &Sources,
                                DiagnosticEngine &Diags);

} // namespace foretrace::exporters
