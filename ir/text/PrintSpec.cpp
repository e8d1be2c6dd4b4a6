// SPDX-License-Identifier: Apache-2.0
//
// The text form of a spec.
#include "ir/model/SpecFields.h"
#include "ir/model/Spellings.h"
#include "ir/text/TextWriter.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class SpecPrinter {
public:
  explicit SpecPrinter(llvm::raw_ostream &OS) : OS(OS) {}

  void print(const Spec &S);

private:
  void open(llvm::StringRef Keyword, llvm::StringRef Name = "");
  void close();
  llvm::raw_ostream &line() { return OS.indent(2 * Depth); }

  void value(int64_t V) { OS << V; }
  void value(bool V) { OS << (V ? "true" : "false"); }
  void value(const std::string &V) { printQuoted(V, OS); }
  template <typename EnumT, typename = std::enable_if_t<std::is_enum_v<EnumT>>>
  void value(EnumT V) {
    printName(getSpelling(V), OS);
  }
  void value(const Attribute &A);
  void options(const Attribute &Section);

  /// Prints `key = value`, and how an unstated value came to be. \p IsWord: a
  /// text is a word, in quotes only if it must be.
  template <typename T>
  void field(llvm::StringRef Key, const Located<T> &F, bool IsWord = false) {
    using Status = typename Located<T>::Status;
    if (!F.isPresent())
      return;
    line() << Key << " = ";
    if constexpr (std::is_same_v<T, Text>)
      IsWord ? printName(*F, OS) : value(*F);
    else
      value(*F);
    OS << (F.From == Status::Default   ? " default\n"
           : F.From == Status::Derived ? " derived\n"
                                       : "\n");
  }

  template <typename SpecT> void fields(const SpecT &Of) {
    visitFields(Of, [this](const FieldRow &Row, const auto &F) {
      this->field(Row.Name, F);
    });
  }
  /// Prints a section that has nothing but fields.
  template <typename SpecT>
  void section(const SpecT &Of, llvm::StringRef Keyword,
               llvm::StringRef Name = "") {
    open(Keyword, Name);
    fields(Of);
    close();
  }

  void print(const ModelSpec &M);
  void print(const LayerUse &Use, llvm::StringRef Keyword);
  void names(llvm::StringRef Word, llvm::ArrayRef<std::string> Names);
  void print(const BlockSpec &B);
  void steps(const ParallelSpec &P);
  void print(const ParallelSpec &P);
  void print(const CostSpec &C);
  void print(const ClusterSpec &C);

  llvm::raw_ostream &OS;
  unsigned Depth = 0;
};

} // namespace

void SpecPrinter::open(llvm::StringRef Keyword, llvm::StringRef Name) {
  line() << Keyword << ' ';
  if (!Name.empty()) {
    printName(Name, OS);
    OS << ' ';
  }
  OS << "{\n";
  ++Depth;
}

void SpecPrinter::close() {
  --Depth;
  line() << "}\n";
}

void SpecPrinter::options(const Attribute &Section) {
  ++Depth;
  for (const NamedAttribute &F : Section.Fields) {
    line();
    printName(F.Name, OS);
    OS << " = ";
    value(F.Value);
    OS << '\n';
  }
  --Depth;
}

void SpecPrinter::value(const Attribute &A) {
  switch (A.K) {
  case Attribute::Kind::Int:
    return value(A.Integer);
  case Attribute::Kind::Real:
    return printReal(A.Real, OS);
  case Attribute::Kind::Bool:
    return value(A.Integer != 0);
  case Attribute::Kind::Text:
    return value(A.Text);
  case Attribute::Kind::Name:
    OS << A.Text;
    return;
  case Attribute::Kind::List:
    OS << '[';
    llvm::interleaveComma(A.Elements, OS,
                          [&](const Attribute &E) { value(E); });
    OS << ']';
    return;
  case Attribute::Kind::Section:
    if (!A.Text.empty()) {
      printName(A.Text, OS);
      OS << ' ';
    }
    OS << "{\n";
    options(A);
    line() << '}';
    return;
  }
}

void SpecPrinter::print(const LayerUse &Use, llvm::StringRef Keyword) {
  open(Keyword, Use.Kind);
  visitKeys(Use, "", 0, [this](const FieldRow &Row, const auto &F) {
    this->field(Row.Name, F, /*IsWord=*/true);
  });
  close();
}

/// Prints `receives(choice, first)` unless there are none.
void SpecPrinter::names(llvm::StringRef Word,
                        llvm::ArrayRef<std::string> Names) {
  if (Names.empty())
    return;
  line() << Word << '(';
  llvm::interleaveComma(Names, OS,
                        [&](llvm::StringRef Name) { printName(Name, OS); });
  OS << ")\n";
}

void SpecPrinter::print(const BlockSpec &B) {
  open("block", B.Name);
  names("receives", B.Receives);
  names("passes", B.Passes);
  if (B.IsEntry)
    line() << "entry\n";
  names("shares", B.Shares);
  names("aliases", B.Aliases);
  names("copies", B.Copies);
  names("sums", B.Sums);
  fields(B);
  print(B.Mixer, "attention");
  print(B.Network, "ffn");
  close();
}

void foretrace::ir::printPattern(const ModelSpec &M,
                                 llvm::ArrayRef<LayerRun> Layers,
                                 llvm::raw_ostream &OS) {
  llvm::interleave(
      Layers, OS,
      [&](const LayerRun &R) {
        printPeriods(R.Periods, R.Items, OS, [&](const LayerRun::Item &I) {
          printName(M.Blocks[I.Block].Name, OS);
        });
      },
      " + ");
}

void SpecPrinter::print(const ModelSpec &M) {
  open("model", M.Name);
  fields(M);
  for (const BlockSpec &B : M.Blocks)
    print(B);
  if (!M.Layers.empty()) {
    line() << "layers = ";
    printPattern(M, M.Layers, OS);
    OS << '\n';
  }
  if (M.Branch) {
    line() << "branch ";
    printName(M.Blocks[M.Branch->Block].Name, OS);
    OS << " = ";
    printPattern(M, M.Branch->Layers, OS);
    OS << '\n';
  }
  close();
}

/// A text for each stage, as its line in a schedule file.
void SpecPrinter::steps(const ParallelSpec &P) {
  line() << "steps = [\n";
  ++Depth;
  for (const std::vector<ScheduleSteps> &Stage : P.Steps) {
    line() << '"';
    llvm::interleave(
        Stage, OS, [&](const ScheduleSteps &At) { OS << At.Entry; }, ",");
    OS << (&Stage == &P.Steps.back() ? "\"\n" : "\",\n");
  }
  --Depth;
  line() << "]\n";
}

void SpecPrinter::print(const ParallelSpec &P) {
  open("parallel");
  fields(P);
  if (!P.Layout.empty()) {
    line() << "layout = [";
    llvm::interleaveComma(P.Layout, OS,
                          [&](const Located<int64_t> &L) { value(*L); });
    OS << "]\n";
  }
  if (!P.Steps.empty())
    steps(P);
  close();
}

void SpecPrinter::print(const CostSpec &C) {
  open("cost");
  fields(C);
  if (!C.Profile.empty()) {
    open("times");
    for (const ProfileTime &T : C.Profile) {
      line();
      printName(T.Section, OS);
      OS << " = ";
      printReal(T.Microseconds, OS);
      OS << '\n';
    }
    close();
  }
  if (!C.Kernels.empty()) {
    open("kernels");
    for (const KernelParameter &K : C.Kernels) {
      line();
      printName(getInfo(K.Id).Name, OS);
      OS << " = ";
      printReal(K.Value, OS);
      OS << '\n';
    }
    close();
  }
  section(C.Device, "device");
  for (const LinkSpec &L : C.Links)
    section(L, "link", getName(L.Axis));
  close();
}

void SpecPrinter::print(const ClusterSpec &C) {
  open("cluster", C.Name);
  fields(C);
  section(C.Device, "device");
  for (const TierSpec &T : C.Tiers)
    section(T, "tier", T.Name);
  close();
}

void SpecPrinter::print(const Spec &S) {
  open("spec");
  for (const DimInfo &D : S.Dims) {
    line() << "dim " << D.Name;
    llvm::StringRef Before = " over ";
    for (const Axis A : D.ActivationAxes) {
      OS << Before << getName(A);
      Before = ",";
    }
    OS << '\n';
  }
  print(S.Model);
  section(S.Train, "train");
  print(S.Parallel);
  if (S.Requests)
    section(*S.Requests, "requests");
  if (S.Serve)
    section(*S.Serve, "serve", S.Serve->Name);
  if (S.Draft)
    section(*S.Draft, "draft");
  if (S.Lora)
    section(*S.Lora, "lora");
  print(S.Cost);
  if (S.Cluster)
    print(*S.Cluster);
  for (const EmitSpec &E : S.Emits) {
    line() << "emit ";
    printName(E.Backend, OS);
    OS << ' ';
    value(E.Options);
    OS << '\n';
  }
  close();
}

void foretrace::ir::printSpec(const Spec &S, llvm::raw_ostream &OS) {
  SpecPrinter(OS).print(S);
}
