// SPDX-License-Identifier: Apache-2.0
#include "backends/simai/Table.h"
#include "lang/diagnostics/Validate.h"
#include "tools/validate/SimaiTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::validate {

namespace {

enum class Family : unsigned char { Any, Transformer, Dlrm };

struct Policy {
  StringRef Word;
  Family Is;
  size_t Fields;
};
constexpr Policy Policies[] = {
#define POLICY(WORD, FAMILY, FIELDS) {WORD, Family::FAMILY, FIELDS},
#include "tools/validate/SimaiKeys.def"
};

enum class NeededFor : unsigned char { Nothing, Meaning, Simulation };

struct Key {
  StringRef Word;
  int64_t Least;
  NeededFor For;
  Family Of;
};
constexpr Key Keys[] = {
#define KEY(WORD, LEAST, NEED, FAMILY)                                         \
  {WORD, LEAST, NeededFor::NEED, Family::FAMILY},
#include "tools/validate/SimaiKeys.def"
};
constexpr StringRef PpComm = "pp_comm";

class HeaderChecker {
public:
  HeaderChecker(const TableLine &Line, StringRef Path, Findings &Out)
      : Fields(Line.Fields), At{Path.str(), Line.Number, {}}, Out(Out) {}

  TableHeader run();

private:
  /// Returns the policy; null if it is unknown.
  const Policy *findPolicy();
  /// Takes the key at \p I; returns how many fields it and its value are.
  size_t takeKey(size_t I);
  /// Returns whether \p K is read under the policy; any is if that is unknown.
  bool isRead(const Key &K) const {
    return !P || K.Of == Family::Any || K.Of == P->Is;
  }
  /// The value of \p K as the simulator reads it, or nothing if it can't.
  std::optional<int64_t> readValue(const Key &K, StringRef Text);
  void checkMesh(TableHeader &H);
  std::optional<int64_t> valueOf(StringRef Word) const;

  ArrayRef<StringRef> Fields;
  const Policy *P = nullptr;
  Place At;
  Findings &Out;
  std::map<StringRef, int64_t> Seen;
};

const Policy *HeaderChecker::findPolicy() {
  StringRef Word = Fields.front();
  if (Word.consume_front("\xEF\xBB\xBF"))
    Out.report(At, diag::TableBom);
  const auto *Found =
      find_if(Policies, [&](const Policy &P) { return P.Word == Word; });
  if (Found != std::end(Policies))
    return Found;
  std::vector<StringRef> Known;
  for (const Policy &P : Policies)
    Known.push_back(P.Word);
  Out.report(At, diag::TablePolicy, Word, join(Known, ", "));
  return nullptr;
}

std::optional<int64_t> HeaderChecker::readValue(const Key &K, StringRef Text) {
  // One version of the generator writes `6291456.0`; only its digits are read.
  StringRef Digits = Text;
  if (K.Word.starts_with(PpComm))
    Digits.consume_back(".0");
  int64_t Value = 0;
  if (!Digits.getAsInteger(10, Value) && Value >= K.Least &&
      Value < simai::ReaderLimit)
    return Value;
  Out.report(At, diag::TableKeyNumber, K.Word, Text, K.Least,
             simai::ReaderLimit - 1);
  return std::nullopt;
}

size_t HeaderChecker::takeKey(size_t I) {
  const auto *K =
      find_if(Keys, [&](const Key &K) { return K.Word == Fields[I]; });
  if (K == std::end(Keys) || !isRead(*K)) {
    // Its value is a token like any other.
    if (!isDigit(Fields[I].front()))
      Out.report(At, diag::TableUnknownKey, Fields[I], Fields.front());
    return 1;
  }
  if (I + 1 == Fields.size()) {
    Out.report(At, diag::TableKeyValue, K->Word);
    return 1;
  }
  const std::optional<int64_t> Value = readValue(*K, Fields[I + 1]);
  const StringRef Name = K->Word.starts_with(PpComm) ? PpComm : K->Word;
  if (!Seen.try_emplace(Name, Value.value_or(-1)).second)
    Out.report(At, diag::TableDuplicateKey, K->Word);
  if (!K->Word.starts_with("checkpoint") || Value.value_or(0) == 0)
    return 2;
  if (*Value > 1)
    Out.report(At, diag::TableCheckpoints, K->Word, *Value);
  const ArrayRef<StringRef> Layers =
      Fields.drop_front(I + 2).take_front(static_cast<size_t>(*Value));
  if (Layers.empty())
    Out.report(At, diag::TableKeyValue, K->Word);
  for (StringRef Layer : Layers)
    (void)readValue(*K, Layer);
  return 2 + Layers.size();
}

std::optional<int64_t> HeaderChecker::valueOf(StringRef Word) const {
  const auto Found = Seen.find(Word);
  if (Found == Seen.end() || Found->second < 0)
    return std::nullopt;
  return Found->second;
}

void HeaderChecker::checkMesh(TableHeader &H) {
  const std::optional<int64_t> Tp = valueOf("model_parallel_NPU_group:"),
                               Ep = valueOf("ep:"), Pp = valueOf("pp:"),
                               World = valueOf("all_gpus:");
  if (Pp && (*Pp == 1) != (H.Boundary == 0))
    Out.report(At, diag::TablePpComm, *Pp, H.Boundary);
  if (!Tp || !Ep || !Pp || !World)
    return;
  // Below 2^31 each, so that their product fits.
  if (*World % (*Tp * *Pp) != 0) {
    Out.report(At, diag::TableGpus, *World, *Tp, *Pp);
    return;
  }
  H.HasMesh = true;
  H.Tp = *Tp;
  H.Ep = *Ep;
  H.Pp = *Pp;
  H.World = *World;
  if (H.dp() % H.Ep != 0) {
    Out.report(At, diag::TableExperts, H.Ep, H.dp());
    H.HasMesh = false;
  }
}

TableHeader HeaderChecker::run() {
  TableHeader H;
  if (Fields.empty()) {
    Out.report(At, diag::TableEmpty, "header");
    return H;
  }
  P = findPolicy();
  if (P) {
    H.Fields = P->Fields;
    H.HasKeys = P->Is == Family::Transformer;
    H.Policy = P->Word;
  }
  for (size_t I = 1; I < Fields.size();)
    I += takeKey(I);
  if (P && P->Is != Family::Transformer)
    return H;
  H.Checkpoints = valueOf("checkpoints:").value_or(0);
  H.Boundary = valueOf(PpComm).value_or(0);
  for (const Key &K : Keys) {
    if (Seen.count(K.Word))
      continue;
    if (K.For == NeededFor::Meaning)
      Out.report(At, diag::TableMissingKey, K.Word);
    if (K.For == NeededFor::Simulation)
      H.Missing.push_back(K.Word);
  }
  checkMesh(H);
  return H;
}

} // namespace

ir::Mesh TableHeader::mesh() const {
  ir::Mesh M;
  M[ir::Axis::Tp] = M[ir::Axis::Etp] = Tp;
  M[ir::Axis::Dp] = dp();
  M[ir::Axis::Ep] = Ep;
  M[ir::Axis::Edp] = dp() / Ep;
  return M;
}

TableHeader checkHeader(const TableLine &Line, StringRef Path, Findings &Out) {
  return HeaderChecker(Line, Path, Out).run();
}

} // namespace foretrace::validate
