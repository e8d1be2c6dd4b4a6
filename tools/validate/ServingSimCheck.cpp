// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/ServingSimCheck.h"
#include "lang/diagnostics/Validate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <optional>

using namespace llvm;

namespace foretrace::validate {

namespace {

constexpr StringLiteral Modes[] = {"COLOCATED", "PREFILL", "DECODE"};
constexpr StringLiteral Memories[] = {"LOCAL", "REMOTE", "CXL", "STORAGE"};
constexpr StringLiteral Messages[] = {"NONE", "ALLREDUCE", "ALLTOALL",
                                      "ALLGATHER", "REDUCESCATTER"};

/// Reads a trace line by line (llm_converter.py, Layer and convert).
class ServingSimReader {
public:
  ServingSimReader(StringRef Path, Findings &Out)
      : Out(Out), At{Path.str(), 0, {}} {}

  std::string run(StringRef Text);

private:
  using Fields = SmallVector<StringRef, 16>;

  void takeHeader(StringRef Line);
  void takeBoundaries(StringRef List);
  void takeRow(const Fields &Row);
  void takeMarker(const Fields &Row);
  void takeMessage(StringRef Word, StringRef Size);
  void takeEdge(uint64_t Input);
  std::optional<uint64_t> number(StringRef What, StringRef Field);
  void word(StringRef What, StringRef Field, ArrayRef<StringLiteral> Known);
  void finish();

  Findings &Out;
  Place At;
  uint64_t Stages = 1, Declared = 0, Rows = 0, Moves = 0, Computations = 0;
  std::vector<uint64_t> Boundaries; ///< without the rows of moved caches
  std::optional<uint64_t> Output;   ///< of the last row
  uint64_t Sent = 0, Time = 0;
  bool IsInExperts = false;
};

} // namespace

bool looksLikeServingSim(StringRef Text) {
  return is_contained(Modes, Text.take_until(isSpace)) ||
         Text.split('\n').second.split('\n').second.starts_with("Layername");
}

std::optional<uint64_t> ServingSimReader::number(StringRef What,
                                                 StringRef Field) {
  uint64_t N;
  if (!Field.getAsInteger(10, N))
    return N;
  Out.report(At, diag::ServingSimNumber, What, Field);
  return std::nullopt;
}

void ServingSimReader::word(StringRef What, StringRef Field,
                            ArrayRef<StringLiteral> Known) {
  if (!is_contained(Known, Field.split(':').first))
    Out.report(At, diag::ServingSimWord, What, Field, join(Known, ", "));
}

/// There is one boundary less than stages, each further than the one before.
void ServingSimReader::takeBoundaries(StringRef List) {
  SmallVector<StringRef> All;
  List.split(All, ',', -1, /*KeepEmpty=*/false);
  bool IsGood = All.size() + 1 == Stages;
  for (const StringRef Each : All) {
    uint64_t N;
    IsGood &= !Each.getAsInteger(10, N) &&
              N > (Boundaries.empty() ? 0 : Boundaries.back());
    if (IsGood)
      Boundaries.push_back(N);
  }
  if (!IsGood)
    Out.report(At, diag::ServingSimHeader,
               "rising `pp_stage_boundaries:` of " + std::to_string(Stages) +
                   " stages",
               List);
}

void ServingSimReader::takeHeader(StringRef Line) {
  Fields Words;
  SplitString(Line, Words);
  if (Words.empty() || !is_contained(Modes, Words.front()))
    Out.report(At, diag::ServingSimHeader, join(ArrayRef(Modes), ", "),
               Words.empty() ? "" : Words.front());
  StringRef Groups, Edges;
  for (size_t I = 1; I + 1 < Words.size(); I += 2)
    if (Words[I] == "model_parallel_NPU_group:")
      Groups = Words[I + 1];
    else if (Words[I] == "pp_stage_boundaries:")
      Edges = Words[I + 1];
  if (Groups.getAsInteger(10, Stages) || Stages == 0) {
    Stages = 1;
    Out.report(At, diag::ServingSimHeader,
               "a number of stages as `model_parallel_NPU_group:`", Groups);
  } else if (Stages > 1) {
    takeBoundaries(Edges);
  }
}

void ServingSimReader::takeMessage(StringRef Word, StringRef Size) {
  word("the communication", Word, Messages);
  if (const std::optional<uint64_t> Bytes = number("comm_size", Size))
    Sent = SaturatingAdd(Sent, *Bytes);
}

/// `EXPERT 0 ALLGATHER:0,1 4096`, to `EXPERT END ...`.
void ServingSimReader::takeMarker(const Fields &Row) {
  IsInExperts = Row.size() > 1 && Row[1] != "END";
  if (IsInExperts)
    number("the expert", Row[1]);
  if (Row.size() > 3)
    takeMessage(Row[2], Row[3]);
  Output.reset();
}

/// Stages meet between two rows: both must state the same bytes.
void ServingSimReader::takeEdge(uint64_t Input) {
  const auto Edge = find(Boundaries, Rows - 1 - Moves);
  if (Edge != Boundaries.end() && Output && *Output != Input)
    Out.report(At, diag::ServingSimBytes, Edge - Boundaries.begin(), *Output,
               Input);
}

void ServingSimReader::takeRow(const Fields &Row) {
  ++Rows;
  if (Row.front() == "EXPERT")
    return takeMarker(Row);
  if (Row.front() == "PIM")
    return;
  constexpr size_t Columns = 11;
  if (Row.size() != Columns) {
    Out.report(At, diag::ServingSimFields, Row.size(), Columns);
    return;
  }
  if (Rows <= 2 && (Row[0].contains("kv_load") || Row[0].contains("kv_evict")))
    ++Moves;
  const std::optional<uint64_t> Spent = number("comp_time", Row[1]);
  Time = SaturatingAdd(Time, Spent.value_or(0));
  Computations += Spent.value_or(0) > 0;
  std::optional<uint64_t> Sizes[3];
  static constexpr StringLiteral Names[] = {"input", "weight", "output"};
  for (size_t I = 0; I < std::size(Names); ++I) {
    word(("the memory of the " + Names[I]).str(), Row[2 + 2 * I], Memories);
    Sizes[I] = number((Names[I] + "_size").str(), Row[3 + 2 * I]);
  }
  takeEdge(Sizes[0].value_or(0));
  Output = Sizes[2];
  takeMessage(Row[8], Row[9]);
}

void ServingSimReader::finish() {
  if (Rows != Declared)
    Out.report(At, diag::ServingSimRows, Declared, Rows);
  if (IsInExperts)
    Out.report(At, diag::ServingSimExperts);
  if (!Boundaries.empty() && Boundaries.back() >= Rows - std::min(Moves, Rows))
    Out.report({At.Path, 1, {}}, diag::ServingSimHeader,
               "`pp_stage_boundaries:` below " + std::to_string(Rows - Moves),
               Boundaries.back());
}

std::string ServingSimReader::run(StringRef Text) {
  while (!Text.empty()) {
    const auto [Line, After] = Text.split('\n');
    Text = After;
    ++At.Line;
    Fields Row;
    SplitString(Line, Row);
    if (At.Line == 1)
      takeHeader(Line);
    else if (At.Line == 2)
      Declared = number("the number of rows", Line.trim()).value_or(0);
    else if (At.Line > 3 && !Row.empty())
      takeRow(Row);
  }
  finish();
  return formatv("LLMServingSim trace: {0} stages, {1} rows, {2} computations "
                 "of {3} ns, {4} bytes sent",
                 Stages, Rows, Computations, Time, Sent);
}

std::string checkServingSim(StringRef Text, StringRef Path, Findings &Out) {
  return ServingSimReader(Path, Out).run(Text);
}

} // namespace foretrace::validate
