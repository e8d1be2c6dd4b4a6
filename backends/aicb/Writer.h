// SPDX-License-Identifier: Apache-2.0
//
// Rows of a CSV workload, as Python prints them.
#pragma once

#include "backends/OutputSet.h"
#include "backends/aicb/AicbJob.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::aicb {

enum class LoggedComm : unsigned char {
#define COMM(ENUMERATOR, WORD) ENUMERATOR,
#include "backends/aicb/Comms.def"
};

enum class CommGroup : unsigned char {
#define GROUP(ENUMERATOR, WORD) ENUMERATOR,
#include "backends/aicb/Comms.def"
};

/// Members of a collective. The generator omits their number in some rows.
struct Members {
  aicb::CommGroup Group;
  std::optional<int64_t> Ranks;
};

/// A message, in the order of the columns.
struct LogItem {
  LoggedComm Comm;
  aicb::Members Members;
  int64_t Size; ///< bytes, or the generator's unit for them
  std::string Stage;
  std::optional<int64_t> To = std::nullopt, From = std::nullopt;
  llvm::StringLiteral Remark = "";
};

class LogItemWriter {
public:
  LogItemWriter(OutputStream &OS, Version V) : OS(OS), V(V) {}

  void header();
  void send(const LogItem &M);
  /// A message in FP8: a byte for each element of two, and a scale of four
  /// bytes for every 128 of them. The product is a float, and printed as one.
  void sendScaled(const LogItem &M);
  /// A product of two tensors of these shapes.
  void multiply(llvm::ArrayRef<int64_t> Left, llvm::ArrayRef<int64_t> Right,
                llvm::StringRef Stage);
  void endEpoch();
  bool isFull() const { return OS.isFull(); }

private:
  void begin(const LogItem &M);
  void end(const LogItem &M);
  void shape(llvm::ArrayRef<int64_t> Sizes);
  /// Commas within a field went unnoticed at first.
  llvm::StringRef comma() const { return V < Version::V2025_01 ? ", " : " "; }

  OutputStream &OS;
  const Version V;
};

} // namespace foretrace::aicb
