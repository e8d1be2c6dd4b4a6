// SPDX-License-Identifier: Apache-2.0
#include "ir/PrintSpec.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

template <typename RowT, typename EnumT>
bool isRow([[maybe_unused]] RowT Row, [[maybe_unused]] EnumT Value) {
  if constexpr (std::is_same_v<RowT, EnumT>)
    return Row == Value;
  return false;
}

class SpecPrinter {
public:
  explicit SpecPrinter(llvm::raw_ostream &OS) : OS(OS) {}

  void print(const Spec &S);

private:
  void model(const ModelSpec &M);
  void block(const BlockSpec &B);
  void runs(const ModelSpec &M);
  void parallel(const ParallelSpec &P);
  void cost(const CostSpec &C);
  void attribute(const Attribute &A);
  void fields(const Attribute &Section);

  void open(llvm::StringRef Words) {
    OS.indent(Depth) << Words << " {\n";
    Depth += 2;
  }
  void close() {
    Depth -= 2;
    OS.indent(Depth) << "}\n";
  }

  void value(int64_t V) { OS << V; }
  void value(bool V) { OS << (V ? "true" : "false"); }
  void value(const std::string &V) { quoted(V); }
  template <typename EnumT> void value(EnumT V) {
#define SPEC_ENUM(TYPE, ENUMERATOR, SPELLING)                                  \
  if (isRow(TYPE::ENUMERATOR, V))                                              \
    OS << SPELLING;
#include "ir/Spec.def"
  }
  void quoted(llvm::StringRef Text) {
    OS << '"';
    llvm::printEscapedString(Text, OS);
    OS << '"';
  }

  template <typename T> void field(llvm::StringRef Key, const Located<T> &F) {
    if (!F.isPresent())
      return;
    using Origin = typename Located<T>::Origin;
    OS.indent(Depth) << Key
                     << (F.From == Origin::Stated    ? " = "
                         : F.From == Origin::Derived ? " := "
                                                     : " ?= ");
    value(F.Value);
    OS << '\n';
  }

  llvm::raw_ostream &OS;
  unsigned Depth = 0;
};

} // namespace

void SpecPrinter::block(const BlockSpec &B) {
  open("block " + B.Name);
  open("attention");
#define ATTENTION_FIELD(TYPE, MEMBER, KEY, ALIASES, DOC)                       \
  field(KEY, B.Attention.MEMBER);
#include "ir/Spec.def"
  close();
  open("ffn");
#define FFN_FIELD(TYPE, MEMBER, KEY, ALIASES, DOC) field(KEY, B.Ffn.MEMBER);
#include "ir/Spec.def"
  close();
  if (B.Moe) {
    open("moe");
#define MOE_FIELD(TYPE, MEMBER, KEY, ALIASES, DOC) field(KEY, B.Moe->MEMBER);
#include "ir/Spec.def"
    close();
  }
  close();
}

/// `layers 3 x dense, 29 x (dense, 2 x moe)`
void SpecPrinter::runs(const ModelSpec &M) {
  OS.indent(Depth) << "layers ";
  llvm::interleaveComma(M.Layers, OS, [&](const LayerRun &R) {
    if (R.Periods != 1)
      OS << R.Periods << " x (";
    llvm::interleaveComma(R.Items, OS, [&](const LayerRun::Item &I) {
      if (I.Count != 1)
        OS << I.Count << " x ";
      OS << M.Blocks[I.Block].Name;
    });
    if (R.Periods != 1)
      OS << ')';
  });
  OS << '\n';
}

void SpecPrinter::model(const ModelSpec &M) {
  open("model " + M.Name);
#define MODEL_FIELD(TYPE, MEMBER, KEY, ALIASES, DOC) field(KEY, M.MEMBER);
#include "ir/Spec.def"
  for (const BlockSpec &B : M.Blocks)
    block(B);
  if (!M.Layers.empty())
    runs(M);
  close();
}

void SpecPrinter::parallel(const ParallelSpec &P) {
  open("parallel");
#define PARALLEL_FIELD(TYPE, MEMBER, KEY, ALIASES, DOC) field(KEY, P.MEMBER);
#include "ir/Spec.def"
  if (!P.Layout.empty()) {
    OS.indent(Depth) << "layout = [";
    llvm::interleaveComma(P.Layout, OS,
                          [&](const Located<int64_t> &L) { OS << *L; });
    OS << "]\n";
  }
  close();
}

void SpecPrinter::cost(const CostSpec &C) {
  open("cost");
#define COST_FIELD(TYPE, MEMBER, KEY, ALIASES, DOC) field(KEY, C.MEMBER);
#include "ir/Spec.def"
  if (C.Device.PeakFlops.isPresent()) {
    open("device");
#define DEVICE_FIELD(TYPE, MEMBER, KEY, ALIASES, DOC) field(KEY, C.Device.MEMBER);
#include "ir/Spec.def"
    close();
  }
  if (!C.Profile.empty()) {
    open("times");
    for (const ProfileTime &T : C.Profile)
      OS.indent(Depth) << T.Section << " = "
                       << llvm::format("%.17g", T.Microseconds) << '\n';
    close();
  }
  close();
}

void SpecPrinter::attribute(const Attribute &A) {
  switch (A.K) {
  case Attribute::Kind::Int:
    OS << A.Integer;
    return;
  case Attribute::Kind::Real:
    OS << llvm::format("%.17g", A.Real) << " real";
    return;
  case Attribute::Kind::Bool:
    OS << (A.Integer ? "true" : "false");
    return;
  case Attribute::Kind::Text:
    quoted(A.Text);
    return;
  case Attribute::Kind::Name:
    OS << A.Text;
    return;
  case Attribute::Kind::List:
    OS << '[';
    llvm::interleaveComma(A.Elements, OS,
                          [&](const Attribute &E) { attribute(E); });
    OS << ']';
    return;
  case Attribute::Kind::Section:
    if (!A.Text.empty())
      OS << A.Text << ' ';
    OS << "{\n";
    Depth += 2;
    fields(A);
    Depth -= 2;
    OS.indent(Depth) << '}';
    return;
  }
}

void SpecPrinter::fields(const Attribute &Section) {
  for (const NamedAttribute &F : Section.Fields) {
    OS.indent(Depth) << F.Name << " = ";
    attribute(F.Value);
    OS << '\n';
  }
}

void SpecPrinter::print(const Spec &S) {
  open("spec");
  model(S.Model);
  open("train");
#define TRAIN_FIELD(TYPE, MEMBER, KEY, ALIASES, DOC) field(KEY, S.Train.MEMBER);
#include "ir/Spec.def"
  close();
  parallel(S.Parallel);
  cost(S.Cost);
  for (const EmitSpec &E : S.Emits) {
    open("emit " + E.Backend);
    fields(E.Options);
    close();
  }
  close();
}

void foretrace::ir::printSpec(const Spec &S, llvm::raw_ostream &OS) {
  SpecPrinter(OS).print(S);
}
