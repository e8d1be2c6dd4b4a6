// SPDX-License-Identifier: Apache-2.0
//
// A backend: a name, options, the facts about the program that it needs, checks
// of what its format can express, and the bytes that it writes. Backends
// include only analysis, ir and lang; Backends.h lists all of them.
#pragma once

#include "backends/EmitOptions.h"
#include "backends/OutputSet.h"
#include "ir/model/Program.h"
#include "lang/Diagnostic.h"
#include <memory>
#include <optional>

namespace foretrace {

struct Figures;     // backends/figures/Figures.h
struct FigureTable; // backends/figures/Figures.h
class JobFigures;   // analysis/Figures.h
class SourceFiles;  // lang/SourceFiles.h
struct Subject;     // analysis/Derivation.h

/// Bits for what selects a cell of a backend's output.
enum CellChoice : unsigned {
  NoChoice = 0,
  ByRank = 1,
  ByRow = 2,
  ByNode = 4,
  ByStage = 8,
  ByName = 16
};

/// Selects a cell of a backend's output.
struct CellQuery {
  std::optional<int64_t> Rank, Row, Node, Stage;
  std::optional<std::string> Name; ///< `model_flops`, `stages/0/forward`
};

/// One `emit` block of one program, as a backend sees it.
struct EmitRequest {
  const ir::Program &Program;
  /// Figures of the program; check, emit, figures and locate share what was
  /// computed.
  JobFigures &Figures;
  const ir::EmitSpec &Emit; ///< for places; its options have been read
  /// File to write if the block names none; from the job's file name.
  llvm::StringRef DefaultStem;
  /// Returns where a range is written, `job.fore:12`; empty if nowhere. Not for
  /// several threads at once.
  llvm::function_ref<std::string(SourceRange)> Where = nullptr;
  /// Texts of the places that Where returns, to show them; null without any.
  const SourceFiles *Sources = nullptr;
  /// Lists changes with which no rank has more than \p Room bytes; null for who
  /// cannot compile the job anew.
  llvm::function_ref<FigureTable(int64_t Room)> ListFitting = nullptr;
  /// Returns the program of the engine that shares requests with this one, with
  /// the same facts; null if there is none or if it has errors, which are
  /// reported.
  llvm::function_ref<const ir::Program *()> Peer = nullptr;
  /// Returns the program of the largest step of the job, which serves, with the
  /// same facts; null like Peer.
  llvm::function_ref<const ir::Program *()> Largest = nullptr;
  /// Bytes that the files of the run may have, if there is a limit.
  std::optional<uint64_t> MaxBytes = std::nullopt;

  /// Returns whether files of \p Least bytes or more may be written; reports if
  /// not. Saves the time to find that out by writing.
  bool hasRoom(double Least, DiagnosticEngine &Diags) const;
  /// The only file: \p Named, or if it is empty DefaultStem with \p Extension.
  std::string file(llvm::StringRef Named, llvm::StringRef Extension) const;
};

/// The step of a job that serves that a backend describes: none if it refuses
/// such jobs, or the one that the job is about, perhaps without durations.
enum ServedStep { NoStep, AnyStep, Untimed, Largest };

/// An `emit` block whose options its backend has read. The block must outlive
/// it.
class Emission {
public:
  virtual ~Emission();
  /// The facts it needs; options may change them (an `aicb` table needs only
  /// the spec).
  virtual ir::FactSet needs() const = 0;
  virtual ServedStep servedStep() const = 0;
  /// Returns whether the format can express this program; reports if not.
  virtual bool check(const EmitRequest &, DiagnosticEngine &) const = 0;
  /// Writes. Same program, same bytes. Called only after check() succeeded.
  virtual llvm::Error emit(const EmitRequest &, OutputSet &) const = 0;
  /// The exact command line that runs the format's consumer on \p File, for
  /// `--show-command`; empty if there is none or it doesn't read that file.
  virtual std::string showCommand(const EmitRequest &,
                                  llvm::StringRef File) const = 0;
  /// Its output as figures with their derivations; nothing if it writes no
  /// figures. Called only after check() succeeded.
  virtual std::optional<Figures> figures(const EmitRequest &) const;
  /// Writes \p F, what `figures` returned and tables that others added.
  virtual llvm::Error emitFigures(const EmitRequest &, const Figures &F,
                                  OutputSet &) const;
  /// Derives the cell that \p Asked selects with the choices of Backend::Needed
  /// and perhaps Possible. An error if check() fails or there is no such cell.
  virtual llvm::Expected<std::vector<Subject>>
  locate(const EmitRequest &, const CellQuery &Asked) const;
};

/// Warns that durations of a job that serves lack what attention reads from the
/// cache, if \p Needs has durations that are estimated.
void warnOfDurations(const EmitRequest &Request, ir::FactSet Needs,
                     DiagnosticEngine &Diags);

/// The options that a backend has, and what its blocks become.
struct EmitReader {
  llvm::ArrayRef<EmitOption> Options;
  std::unique_ptr<Emission> (*Read)(const ir::EmitSpec &,
                                    llvm::ArrayRef<EmitOption>,
                                    DiagnosticEngine &);
};

/// One row of Backends.def, constant.
struct Backend {
  llvm::StringRef Name;
  llvm::StringRef Summary;
  /// Whether it describes only the model, not a job that trains it.
  bool IsOfModel;
  bool HasFigures; ///< Emission::figures returns its numbers
  /// The bits of CellChoice that Emission::locate needs, and those that it
  /// accepts besides. A backend that needs none has no locate.
  unsigned Needed, Possible;
  const EmitReader &Reader;

  /// The table of its options.
  llvm::ArrayRef<EmitOption> options() const { return Reader.Options; }
  /// Reads the options of a block, once; reports those that are unknown or
  /// wrong. Errors whose slugs the block's `allow` list names are passed to
  /// DiagnosticEngine::allow here.
  std::unique_ptr<Emission> read(const ir::EmitSpec &Block,
                                 DiagnosticEngine &Diags) const {
    return Reader.Read(Block, options(), Diags);
  }
  /// The option of that name, or null.
  const EmitOption *findOption(llvm::StringRef Name) const;
};

} // namespace foretrace
