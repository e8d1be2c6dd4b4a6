// SPDX-License-Identifier: Apache-2.0
//
// Which files a job consists of, in the order of imports.
// Private to the frontend.
#pragma once

#include "frontend/FindImport.h"
#include "frontend/ParsedFiles.h"
#include "frontend/Scope.h"

namespace foretrace {

/// One `.fore` file with the names that it has in this job.
struct JobFile {
  /// A `.fore` file that this one imports.
  struct Import {
    const JobFile *File;
    llvm::StringRef Model; ///< the one that it was imported for; or empty
  };
  const ast::File *File;
  Scope Names;
  std::vector<Import> Imports; ///< in source order
};

/// All files of a job.
class ImportGraph {
public:
  ImportGraph(ParsedFiles &Files, const std::vector<std::string> &ImportPaths,
              DiagnosticEngine &Diags)
      : Files(Files), Sources(Files.sources()), ImportPaths(ImportPaths),
        Diags(Diags) {}

  /// Loads the main file and all it imports. Null if the main file can't be
  /// read or parsed; what else failed was reported and is left out.
  JobFile *load(llvm::StringRef MainPath);
  /// Loads a text in memory, whose imports are relative to the working
  /// directory.
  JobFile *load(FileId Id);
  /// A file of TOML that no other imports. Null if it can't be read or parsed.
  const ast::Section *loadTable(llvm::StringRef Path) {
    return loadToml(Path, SourceRange());
  }

  /// Loads the cluster that \p Name names: a page of the library, or a file of
  /// TOML that an import from the working directory finds. Null, and reported,
  /// if there is none.
  const ast::Section *loadCluster(const ast::Word &Name);

  /// The text of the file at \p Path, relative to the file that \p Use lies in;
  /// of -D, to the working directory. Reports one that can't be read.
  std::optional<SourceText> read(llvm::StringRef Path, SourceRange Use);

  llvm::StringRef nameOf(FileId File) const { return Sources.name(File); }

  /// Returns all units, imported ones before those that import them.
  const std::vector<JobFile *> &units() const { return Order; }

private:
  struct Loading {
    std::string Path;
    SourceRange Import;
  };
  struct Known {
    JobFile *Fore = nullptr;
    const ast::Section *Toml = nullptr;
  };

  std::string realPath(llvm::StringRef Path) const;
  FoundImport locate(const ast::Import &I, llvm::StringRef Importer);
  std::string findNearest(llvm::StringRef Missing,
                          llvm::ArrayRef<std::string> Folders) const;
  std::optional<FileId> open(llvm::StringRef Path, SourceRange Range);
  JobFile *loadFore(llvm::StringRef Path, SourceRange Range,
                    const LibraryModel *Model);
  JobFile *add(const ast::File &File, llvm::StringRef Path);
  const ast::Section *loadToml(llvm::StringRef Path, SourceRange Range);
  void declare(JobFile &U, llvm::StringRef Path);
  void import(JobFile &U, const ast::Import &I, llvm::StringRef Importer);
  void importForeign(JobFile &U, const ast::Import &I,
                     llvm::StringRef Importer);
  bool reportCycle(llvm::StringRef Real, llvm::StringRef Path,
                   SourceRange Range);

  ParsedFiles &Files;
  SourceFiles &Sources;
  const std::vector<std::string> &ImportPaths;
  DiagnosticEngine &Diags;
  std::deque<JobFile> Units;
  llvm::StringMap<Known> Loaded; ///< by the real path: a file has many names
  std::vector<Loading> Stack;
  std::vector<JobFile *> Order;
};

} // namespace foretrace
