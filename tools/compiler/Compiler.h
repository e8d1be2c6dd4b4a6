// SPDX-License-Identifier: Apache-2.0
//
// A session: reads jobs and brings them to the facts that are asked for. The
// command line, tests, an editor and other programs all compile with it.
//
//   Compiler Session;
//   CompiledJob &Job = Session.compile("job.fore", Text);
//   if (const ir::Program *P = Job.program())
//     ...                        // every fact, verified
//   for (const Diagnostic &D : Job.diagnostics())
//     ...                        // D.Id, D.Range, D.Arguments, D.text()
#pragma once

#include "frontend/ParamList.h"
#include "frontend/sweep/CompileSweep.h"
#include "tools/compiler/CompiledJob.h"
#include "llvm/ADT/StringMap.h"
#include <list>

namespace foretrace {

/// Returns what files are called after the job at \p Path: `job` for
/// `job.fore`, `llama3.1-405b` for this model.
std::string stemOfJob(llvm::StringRef Path);

/// Owns the texts, the syntax of files, the structures that jobs share, and the
/// jobs with their programs and messages. A file is parsed again only if its
/// text has changed, and passes that see no numbers run once for a structure.
/// For one thread; several threads have a session each.
class Compiler {
public:
  /// Files come from \p Disk, and from the library; \p Run runs passes in place
  /// of runPasses.
  explicit Compiler(PassRunner Run = {},
                    llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Disk =
                        llvm::vfs::getRealFileSystem());

  Compiler(const Compiler &) = delete;
  Compiler &operator=(const Compiler &) = delete;

  /// From now on the file at \p Path, of a job or to import, has this text,
  /// whether or not there is one on disk. Jobs that were read stay as they are.
  void setText(llvm::StringRef Path, llvm::StringRef Text);
  /// Drops the text given for \p Path: the file on disk is used again.
  void clearText(llvm::StringRef Path);
  /// The text of the job that was made of the file of another tool at \p Path,
  /// once it has been read.
  llvm::StringRef textOfForeign(llvm::StringRef Path) const;
  /// Returns the text of the job at \p Path, once it has been read.
  std::string textOf(llvm::StringRef Path);
  /// Returns the text given in place of the file at \p Path, or of standard
  /// input; empty if the file on disk is used.
  llvm::StringRef givenText(llvm::StringRef Path) const;

  /// Returns the files that positions in programs and messages refer to.
  SourceFiles &sources() { return Sources; }

  /// Returns the syntax of a file; null after an error, which is not reported.
  const ast::File *parse(FileId File);

  /// Reads the job at \p Path, with the `foretrace.toml` of its folder or of
  /// one above it (Project.h). Errors are in its diagnostics, which begin as
  /// \p Diags. It stays until it is forgotten.
  CompiledJob &read(llvm::StringRef Path, FrontendOptions Options = {},
                    DiagnosticEngine Diags = {});
  /// All in one: the file at \p Path has this \p Text from now on, and is read
  /// and compiled to the end. The verified result is its program().
  CompiledJob &compile(llvm::StringRef Path, llvm::StringRef Text,
                       FrontendOptions Options = {});
  /// Compiles a text with a model, which need not be a whole job.
  CompiledJob &compileModel(llvm::StringRef Path, llvm::StringRef Text);
  /// Forgets a job with all that it has.
  void forget(const CompiledJob &Job);

  /// Returns the folders of all imports of the job at \p Path: those of its
  /// project, and the library.
  std::vector<std::string> importPaths(llvm::StringRef Path);

  /// The cluster in the file at \p Path; see compileCluster.
  std::optional<ir::ClusterSpec> readCluster(llvm::StringRef Path,
                                             FrontendOptions Options,
                                             DiagnosticEngine &Diags);

  /// The params of the job at \p Path and of its files; see
  /// foretrace::listParams.
  std::vector<ParamEntry> listParams(llvm::StringRef Path,
                                     FrontendOptions Options,
                                     DiagnosticEngine &Diags);

  /// The block of \p Backend with these options; see compileEmit.
  std::optional<ir::EmitSpec> readEmit(llvm::StringRef Backend,
                                       llvm::ArrayRef<std::string> Options,
                                       DiagnosticEngine &Diags);

  /// Returns the sweep of the job at \p Path; see compileSweep.
  std::optional<SweepSpec> readSweep(llvm::StringRef Path,
                                     const FrontendOptions &Options,
                                     const SweepRequest &Request,
                                     DiagnosticEngine &Diags);

private:
  void layFiles();
  void useProject(llvm::StringRef Path, FrontendOptions &Options,
                  DiagnosticEngine &Diags);
  std::string layJob(llvm::StringRef Path, DiagnosticEngine &Diags);

  const PassRunner Run;
  const llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Disk, Library;
  llvm::StringMap<std::string> Texts; ///< by path, in place of the disk's
  SourceFiles Sources;
  ParsedFiles Files;
  StructureCache Structures;
  std::list<CompiledJob> Jobs;
};

} // namespace foretrace
