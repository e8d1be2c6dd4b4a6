// SPDX-License-Identifier: Apache-2.0
#include "frontend/ParsedFiles.h"
#include "frontend/Parse.h"

using namespace foretrace;

/// What \p Parse makes of \p File, from \p Known if it was asked before.
template <typename NodeT, typename ParseT>
static const NodeT *
parseOnce(std::map<FileId, std::unique_ptr<const NodeT>> &Known, FileId File,
          ParseT Parse, const SourceFiles &Sources, DiagnosticEngine &Diags) {
  std::unique_ptr<const NodeT> &Node = Known[File];
  if (!Node)
    if (std::optional<NodeT> Parsed = Parse(Sources.text(File), Diags))
      Node = std::make_unique<const NodeT>(std::move(*Parsed));
  return Node.get();
}

const ast::File *ParsedFiles::fore(FileId File, DiagnosticEngine &Diags) {
  return parseOnce(Fores, File, parseFore, Sources, Diags);
}

const ast::Section *ParsedFiles::toml(FileId File, DiagnosticEngine &Diags) {
  return parseOnce(Tomls, File, parseToml, Sources, Diags);
}
