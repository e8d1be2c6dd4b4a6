// SPDX-License-Identifier: Apache-2.0
#include "backends/aicb/Writer.h"
#include "llvm/ADT/StringExtras.h"
#include <charconv>

using namespace foretrace;
using namespace foretrace::aicb;

static llvm::StringRef wordOf(LoggedComm C) {
  static constexpr llvm::StringLiteral Words[] = {
#define COMM(ENUMERATOR, WORD) WORD,
#include "backends/aicb/Comms.def"
  };
  return Words[static_cast<size_t>(C)];
}

static llvm::StringRef wordOf(CommGroup G) {
  static constexpr llvm::StringLiteral Words[] = {
#define GROUP(ENUMERATOR, WORD) WORD,
#include "backends/aicb/Comms.def"
  };
  return Words[static_cast<size_t>(G)];
}

static void printOr(llvm::raw_ostream &OS, std::optional<int64_t> Value) {
  if (Value)
    OS << *Value;
  else
    OS << "None";
}

/// The shortest digits that are \p V, with a point in them; an exponent from
/// 10^16 on.
static void printFloat(llvm::raw_ostream &OS, double V) {
  char Digits[32];
  const bool IsLarge = V >= 1e16;
  const char *End = std::to_chars(std::begin(Digits), std::end(Digits), V,
                                  IsLarge ? std::chars_format::scientific
                                          : std::chars_format::fixed)
                        .ptr;
  const llvm::StringRef Text(Digits, End - Digits);
  OS << Text << (IsLarge || Text.contains('.') ? "" : ".0");
}

void LogItemWriter::header() {
  OS << "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,"
        "additional,_elapsed_time,algbw,busbw,count\n";
}

void LogItemWriter::begin(const LogItem &M) {
  OS << "CommType." << wordOf(M.Comm) << ",CommGroup."
     << wordOf(M.Members.Group) << ',';
  printOr(OS, M.Members.Ranks);
  OS << ',';
}

void LogItemWriter::end(const LogItem &M) {
  OS << ',' << M.Stage << ',';
  printOr(OS, M.To);
  OS << ',';
  printOr(OS, M.From);
  OS << ',' << M.Remark << ",None,None,None,1\n";
}

void LogItemWriter::send(const LogItem &M) {
  begin(M);
  OS << M.Size;
  end(M);
}

void LogItemWriter::sendScaled(const LogItem &M) {
  begin(M);
  printFloat(OS, static_cast<double>(M.Size) * ((1 + 4.0 / 128) / 2));
  end(M);
}

void LogItemWriter::shape(llvm::ArrayRef<int64_t> Sizes) {
  llvm::ListSeparator Separator(comma());
  OS << '(';
  for (int64_t Size : Sizes)
    OS << Separator << Size;
  OS << ')';
}

void LogItemWriter::multiply(llvm::ArrayRef<int64_t> Left,
                             llvm::ArrayRef<int64_t> Right,
                             llvm::StringRef Stage) {
  OS << "CommType." << wordOf(LoggedComm::Computation) << ",None,None,(";
  shape(Left);
  OS << comma();
  shape(Right);
  OS << ")," << Stage << ",None,None,,None,None,None,1\n";
}

void LogItemWriter::endEpoch() {
  OS << "CommType." << wordOf(LoggedComm::EpochEnd)
     << ",None,None,0,,None,None,,None,None,None,1\n";
}
