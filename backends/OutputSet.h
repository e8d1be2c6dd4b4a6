// SPDX-License-Identifier: Apache-2.0
//
// Where a backend's files go.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace foretrace {

/// One file that is being written.
class OutputStream : public llvm::raw_ostream {
public:
  using raw_ostream::raw_ostream;
  /// Returns whether further output is dropped, since writing failed or reached
  /// a limit. Writers of large files ask now and then, and end early.
  virtual bool isFull() const { return false; }
};

/// Files: all of them or none. They appear under their names only after every
/// file of the set was written without an error.
class OutputSet {
public:
  virtual ~OutputSet();
  /// Streams one file. \p Path is relative to the output folder.
  llvm::Error add(llvm::StringRef Path,
                  llvm::function_ref<void(OutputStream &)> Write);
  /// Streams one file of \p Count parts, in order, unless it is full before.
  llvm::Error
  addParts(llvm::StringRef Path, uint64_t Count,
           llvm::function_ref<void(uint64_t, OutputStream &)> WritePart);
  /// Streams \p Count files: file I, from 0, has the path `Path(I)`, and
  /// `Write(I, OS)` writes it. Several threads may do so at once, and which is
  /// first is not said.
  virtual llvm::Error
  addAll(uint64_t Count, llvm::function_ref<std::string(uint64_t)> Path,
         llvm::function_ref<void(uint64_t, OutputStream &)> Write) = 0;
};

} // namespace foretrace
