// SPDX-License-Identifier: Apache-2.0
//
// Files as they were parsed: each once, for all jobs that import it.
#pragma once

#include "lang/AST.h"
#include "lang/Diagnostic.h"
#include "lang/SourceFiles.h"
#include <functional>
#include <map>
#include <memory>

namespace foretrace {

/// The syntax of files. What was parsed stays as it is; jobs read it, each
/// with names and values of its own.
class ParsedFiles {
public:
  explicit ParsedFiles(SourceFiles &Sources) : Sources(Sources) {}

  SourceFiles &sources() const { return Sources; }

  /// A `.fore` file. Null after an error, which is reported to each who asks.
  const ast::File *fore(FileId File, DiagnosticEngine &Diags);
  /// Returns a page of the library, of which only the model \p Name and those
  /// that it inherits from matter. Null after an error, as above.
  const ast::File *fore(FileId File, llvm::StringRef Name,
                        DiagnosticEngine &Diags);
  /// A TOML file; the same.
  const ast::Section *toml(FileId File, DiagnosticEngine &Diags);

  /// Makes `.fore` text with a model of the given name of the file of another
  /// tool. Nothing after an error.
  using ForeignReader = std::function<std::optional<std::string>(
      FileId, llvm::StringRef Name, DiagnosticEngine &)>;
  void setForeignReader(ForeignReader Reader) {
    ReadForeign = std::move(Reader);
  }
  /// The file of another tool as one of ours, with the model \p Name. Null
  /// after an error.
  const ast::File *foreign(FileId File, llvm::StringRef Name,
                           DiagnosticEngine &Diags);

private:
  SourceFiles &Sources;
  ForeignReader ReadForeign;
  std::map<FileId, std::unique_ptr<const ast::File>> Fores;
  std::map<std::pair<FileId, std::string>, std::unique_ptr<const ast::File>>
      Models;
  std::map<FileId, std::unique_ptr<const ast::Section>> Tomls;
};

} // namespace foretrace
