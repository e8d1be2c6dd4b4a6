// SPDX-License-Identifier: Apache-2.0
//
// Pulls statements out of a GOAL schedule, the text that txt2bin of LogGOPSim
// takes.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace foretrace::validate {

/// A statement, with what is of the text that is read.
struct GoalStatement {
  enum class Kind : unsigned char {
    NumRanks,  ///< `num_ranks Amount`
    Rank,      ///< `rank Amount {`
    EndOfRank, ///< `}`
    Calc,      ///< `Label: calc Amount`, in ns
    Send,      ///< `Label: send Amount b to Peer`, in bytes
    Recv,      ///< `Label: recv Amount b from Peer`, in bytes
    Requires,  ///< `Label requires Other`
    IRequires, ///< `Label irequires Other`
    Malformed, ///< Other was expected
    End,       ///< of the text
  };

  Kind Is = Kind::End;
  int64_t Line = 0; ///< from 1
  llvm::StringRef Label, Other;
  uint64_t Amount = 0, Tag = 0, Cpu = 0, Nic = 0;
  std::optional<uint64_t> Peer; ///< nothing: any (`-1`)
  bool IsAnyTag = false;        ///< `tag -1`
  int64_t BlankLine = 0;        ///< with a blank before it; 0: none
  llvm::StringRef
      Overflow; ///< a number of 2^64 or more; empty if there is none

  bool isOperation() const {
    return Is == Kind::Calc || Is == Kind::Send || Is == Kind::Recv;
  }
};

/// Reads statement by statement a text that outlives it; goes on in the next
/// line after one that is malformed.
class GoalReader {
public:
  explicit GoalReader(llvm::StringRef Text) : Rest(Text) {}

  GoalStatement next();

private:
  void skipToStatement(GoalStatement &S);
  GoalStatement fail(GoalStatement S, llvm::StringRef Expected);
  llvm::StringRef takeWord();
  bool takeNumber(GoalStatement &S, uint64_t &Value);
  bool take(char C);
  bool atLineEnd();
  GoalStatement readDependence(GoalStatement S);
  GoalStatement readOperation(GoalStatement S, llvm::StringRef Word);
  /// `b to 3`; what was expected, or nothing if it is there.
  llvm::StringRef readPeer(GoalStatement &S);
  llvm::StringRef readOptions(GoalStatement &S);

  llvm::StringRef Rest;
  int64_t Line = 1;
};

} // namespace foretrace::validate
