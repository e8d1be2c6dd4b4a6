// SPDX-License-Identifier: Apache-2.0
//
// The two large parts of the text form, each with its own parser.
// Private to the IR.
#pragma once

#include "ir/text/TextReader.h"
#include "lang/SourceFiles.h"
#include "llvm/ADT/StringMap.h"

namespace foretrace::ir {

/// The sources that `loc`s of the text refer to, each opened once.
class LocationFinder {
public:
  explicit LocationFinder(SourceFiles &Sources) : Sources(Sources) {}
  /// Returns a location in a file, with lines and columns from 1; invalid if
  /// the file cannot be read or has no such place.
  SourceLocation find(llvm::StringRef Path, int64_t Line, int64_t Column);

private:
  FileId open(llvm::StringRef Path);

  SourceFiles &Sources;
  llvm::StringMap<FileId> Files; ///< None: can't be read
};

/// Parses the contents after the word `spec`.
bool parseSpec(TextReader &In, Spec &Out);
/// Parses the contents after the word `schedule`.
bool parseSchedule(TextReader &In, Schedule &Out);
/// Parses the contents after the name of a block of \p P.
bool parseBlock(TextReader &In, LocationFinder &Locations, Program &P,
                Block &Out);

} // namespace foretrace::ir
