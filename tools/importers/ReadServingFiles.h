// SPDX-License-Identifier: Apache-2.0
//
// Options of serving engines, as command lines and YAML have them. Private to
// this folder.
#pragma once

#include "frontend/Mapping.h"
#include "tools/importers/shell/ReadShell.h"

namespace foretrace::importers {

/// Returns the options among \p Words by their main names in \p Map. Options in
/// its `flags` take no word, those in its `lists` take several, and others take
/// one. A word that belongs to none is the model; further ones are reported.
std::vector<ForeignValue::Member>
readOptions(llvm::ArrayRef<ArgumentWord> Words, const Mapping &Map,
            DiagnosticEngine &Diags);

/// The same of the keys of YAML. Nothing after an error.
std::optional<std::vector<ForeignValue::Member>>
readOptionFile(SourceText Text, const Mapping &Map, DiagnosticEngine &Diags);

/// Returns the file \p Name: of the working folder, that of \p Script, or what
/// the script writes into it as a here-document. Nothing if there is none.
std::optional<SourceText> openNamed(llvm::StringRef Name,
                                    std::optional<SourceText> Script,
                                    ImportRequest &Request);

} // namespace foretrace::importers
