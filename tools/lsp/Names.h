// SPDX-License-Identifier: Apache-2.0
//
// Where files define names, and where they use them: params, lets, models,
// blocks, layers, and tables that an import names.
#pragma once

#include "lang/AST.h"
#include "tools/compiler/Compiler.h"
#include <map>
#include <optional>

namespace foretrace::lsp {

enum class NameKind : unsigned char { Param, Let, Model, Block, Layer, Table };

/// A place of a name. Offsets are bytes of its file.
struct NamePlace {
  std::string Name;
  size_t Begin, End;
  NameKind Is; ///< of a definition
  bool IsDefinition;
  std::string Model; ///< the model in which it is; empty outside
  /// The definition of a used name in the same file, unless it is a definition
  /// of the whole file.
  std::optional<size_t> Local;
};

/// The names of a file.
struct NameTable {
  llvm::StringRef Text;
  std::vector<NamePlace> Places;
  std::map<std::string, size_t> Own; ///< definitions of the whole file
  std::map<std::pair<std::string, std::string>, size_t>
      Blocks;                               ///< by model and name
  std::map<std::string, std::string> Bases; ///< of models
  std::vector<std::string> Imports;         ///< files imported for their names
};

/// Names of a file and of those that it imports, and so on.
class Names {
public:
  /// A definition: a file, and the index of a place.
  using Definition = std::pair<std::string, size_t>;

  /// Texts, and folders of imports, are those of \p Session.
  explicit Names(Compiler &Session) : Session(Session) {}

  /// Adds the file at \p Path and what it imports; one with syntax errors has
  /// no names.
  void add(llvm::StringRef Path);

  const std::map<std::string, NameTable> &files() const { return Files; }
  /// Returns the name at a byte of a file; null if there is none.
  const NamePlace *at(llvm::StringRef Path, size_t Byte) const;
  /// Returns the definition at, or for, \p Place of \p Path; nothing for words,
  /// keys and names of the library.
  std::optional<Definition> definitionOf(llvm::StringRef Path,
                                         const NamePlace &Place) const;
  const NamePlace &placeOf(const Definition &D) const {
    return Files.at(D.first).Places[D.second];
  }

private:
  void add(llvm::StringRef Path, const std::vector<std::string> &ImportPaths);
  std::optional<Definition> findGlobal(const std::string &Path,
                                       const std::string &Name) const;
  std::optional<Definition> findBlock(const std::string &Path,
                                      const std::string &Model,
                                      const std::string &Name,
                                      unsigned Depth = 0) const;

  Compiler &Session;
  std::map<std::string, NameTable> Files;
};

/// Returns the file that an import of \p Path in the file \p Importer means; an
/// empty path if it is of the library, which an editor can't open.
std::string importedFile(llvm::StringRef Path, llvm::StringRef Importer,
                         const std::vector<std::string> &ImportPaths,
                         Compiler &Session);

} // namespace foretrace::lsp
