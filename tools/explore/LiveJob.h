// SPDX-License-Identifier: Apache-2.0
//
// A job on disk with a warm session: compiled again and again with other texts
// and other values of keys.
#pragma once

#include "tools/compiler/Compiler.h"
#include "tools/explore/ConfinedFiles.h"
#include "tools/explore/HttpReply.h"
#include "tools/start/LayoutSearch.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace foretrace::explore {

/// The job that a page asks for.
struct JobVariant {
  std::optional<std::string> Text;  ///< in place of the text of the file
  std::vector<std::string> Changes; ///< `parallel.tp=4`, as after -D
};

class LiveJob {
public:
  /// The job at \p Path, or made of the file of another tool there, read as \p
  /// Reading says.
  LiveJob(std::string Path, FrontendOptions Reading);

  using Shower =
      llvm::function_ref<void(const DiagnosticEngine &, const SourceFiles &)>;
  /// Reads the file and its imports, wherever they are, and shows diagnostics
  /// with \p Show; false if the job is refused. From now on texts may import
  /// these files, and others of the job's folder and of the folders of `-I`.
  bool load(DiagnosticEngine Diags, Shower Show);

  /// Returns whether a file may have changed since the last load().
  bool hasChanged() const { return stampOf(Read) != Stamp; }
  /// Returns a stamp, which changes with the files.
  llvm::StringRef stamp() const { return Stamp; }

  /// The path as it was given, and the text of the job.
  llvm::StringRef path() const { return Path; }
  llvm::StringRef text() const { return Text; }
  /// -D and -I of the command line.
  const FrontendOptions &reading() const { return Reading; }

  Compiler &session() { return *Session; }
  ConfinedFiles &files() { return *Files; }

  /// Returns options to read \p V, whose text is added to the session.
  FrontendOptions prepare(Compiler &For, const JobVariant &V) const;
  /// Path of the job in sessions.
  llvm::StringRef jobPath() const { return JobPath; }

  /// Begins with an empty session if this one has grown, as a session keeps all
  /// texts that it has read. No job of it may be in use.
  void refresh();
  /// Returns a new session that shares nothing with the current one.
  std::unique_ptr<Compiler> makeApart() const;
  /// \p V for a search on other threads, which shares nothing with the session.
  /// It ends once \p IsCancelled is set.
  start::OpenJob openJob(const JobVariant &V, CancelFlag IsCancelled) const;

private:
  std::unique_ptr<Compiler> makeSession() const;
  FrontendOptions optionsOf(const JobVariant &V) const;
  static std::string stampOf(llvm::ArrayRef<std::string> Files);

  const std::string Path;
  const FrontendOptions Reading;
  std::string JobPath, Text;
  std::vector<std::string> Read; ///< files of the last load()
  std::string Stamp;
  llvm::IntrusiveRefCntPtr<ConfinedFiles> Files;
  std::unique_ptr<Compiler> Session;
  mutable size_t Kept = 0; ///< bytes of texts
};

/// A job that is forgotten when it is no longer in use.
class VariantJob {
public:
  VariantJob(LiveJob &Of, const JobVariant &V, DiagnosticEngine Diags = {});
  VariantJob(const VariantJob &) = delete;
  VariantJob &operator=(const VariantJob &) = delete;
  ~VariantJob() { Of.session().forget(Job); }

  CompiledJob &operator*() const { return Job; }
  CompiledJob *operator->() const { return &Job; }

private:
  LiveJob &Of;
  CompiledJob &Job;
};

} // namespace foretrace::explore
