// SPDX-License-Identifier: Apache-2.0
#include "ir/text/Print.h"
#include "ir/model/SpecKeys.h"
#include "ir/model/Spellings.h"
#include "ir/text/TextWriter.h"
#include "lang/NumberText.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Prints the ops of one block. Values that no op makes are declared first;
/// the others where they are made.
class BlockPrinter {
public:
  BlockPrinter(const Program &P, const Block &B, llvm::raw_ostream &OS,
               const PrintOptions &Options);

  void print();

private:
  void reference(ValueId V);
  void type(ValueId V);
  void signature();
  void modules();
  void copies();
  void list(const Signature::List &L);
  void totals();
  void declare(ValueId V);
  void print(const Op &O);
  void served(OpId For);
  void location(const Origin &O);

  const Program &P;
  const Block &B;
  llvm::raw_ostream &OS;
  const SourceFiles *Locations;
  const SizeStyle Sizes;
  std::vector<bool> IsMade; ///< by an op; indexed by value
};

} // namespace

static void printAxes(llvm::ArrayRef<Axis> Axes, llvm::raw_ostream &OS) {
  llvm::interleave(Axes, OS, [&](Axis A) { OS << getName(A); }, ",");
}

/// Prints ` word(axes)` unless there are none.
static void printState(llvm::StringRef Word, llvm::ArrayRef<Axis> Axes,
                       llvm::raw_ostream &OS) {
  if (Axes.empty())
    return;
  OS << ' ' << Word << '(';
  printAxes(Axes, OS);
  OS << ')';
}

void foretrace::ir::print(const Program &P, const TensorType &T,
                          const Layout &L, llvm::raw_ostream &OS,
                          SizeStyle Style) {
  AxisList Partial, Flat, Single;
  for (Axis A : allAxes()) {
    if (L.isPartial(A))
      Partial.push_back(A);
    if (L.isFlat(A))
      Flat.push_back(A);
    if (L.isSingle(A))
      Single.push_back(A);
  }
  OS << getName(T.Element) << '[';
  for (const auto &[Index, D] : llvm::enumerate(T.Dims)) {
    OS << (Index ? " " : "") << infoOf(P.Spec, D.Kind).Name << ':';
    print(P, D.Size, OS, Style);
    AxisList Split;
    for (Axis A : allAxes())
      if (L.isSplit(A) && L.splitDim(A) == Index)
        Split.push_back(A);
    if (!Split.empty())
      OS << '@';
    printAxes(Split, OS);
  }
  OS << ']';
  printState("partial", Partial, OS);
  printState("flat", Flat, OS);
  printState("single", Single, OS);
}

static void printTotal(const Program &P, llvm::StringRef Word, ExprId Size,
                       llvm::raw_ostream &OS, SizeStyle Style) {
  if (!Size.isValid())
    return;
  OS << "  total " << Word << " = ";
  print(P, Size, OS, Style);
  OS << '\n';
}

static void printMessages(const Program &P, llvm::ArrayRef<GroupBytes> Messages,
                          llvm::raw_ostream &OS, SizeStyle Style) {
  for (const GroupBytes &G : Messages) {
    OS << "  total messages(" << G.Of << ") = ";
    print(P, G.Size.Id, OS, Style);
    OS << '\n';
  }
}

BlockPrinter::BlockPrinter(const Program &P, const Block &B,
                           llvm::raw_ostream &OS, const PrintOptions &Options)
    : P(P), B(B), OS(OS), Locations(Options.Locations), Sizes(Options.Sizes),
      IsMade(B.Values.size()) {
  for (const Op &O : B.Ops)
    for (ValueId V : O.Results)
      IsMade[V.Index] = true;
}

void BlockPrinter::reference(ValueId V) {
  OS << '%';
  llvm::StringRef Name = B.Values[V].Name;
  if (!Name.empty() && llvm::all_of(Name, isWordCharacter))
    OS << Name;
  else
    printQuoted(Name, OS);
}

void BlockPrinter::type(ValueId V) {
  const Value &Val = B.Values[V];
  ir::print(P, Val.Type, Val.Layout, OS, Sizes);
  if (Val.Tied)
    OS << " tied";
  if (Val.Alias)
    OS << " alias";
  if (Val.Copy)
    OS << " copy";
  if (Val.Shared)
    OS << " shared";
  if (Val.Detached)
    OS << " detached";
  if (Val.Gathered)
    OS << " gathered " << getName(*Val.Gathered);
  if (Val.Frozen)
    OS << " frozen";
  if (!Val.Part.empty()) {
    OS << " part ";
    printQuoted(Val.Part, OS);
  }
  if (Val.Kind != ValueKind::Gradient)
    return;
  OS << " grad";
  if (!Val.GradientOf.isValid())
    return;
  OS << '(';
  reference(Val.GradientOf);
  OS << ')';
}

void BlockPrinter::list(const Signature::List &L) {
  OS << '(';
  llvm::interleaveComma(L, OS, [this](ValueId V) { reference(V); });
  OS << ')';
}

void BlockPrinter::signature() {
  const Signature &S = B.Signature;
  if (S.empty())
    return;
  OS << "  signature ";
  list(S.Inputs);
  OS << " -> ";
  list(S.Outputs);
  if (S.hasGradients()) {
    OS << " grad ";
    list(S.OutputGradients);
    OS << " -> ";
    list(S.InputGradients);
  }
  OS << '\n';
}

/// `module 1 = moe_act in(0) until %experts.linear_fc2.out`
void BlockPrinter::modules() {
  for (const auto &[Index, M] : llvm::enumerate(B.Modules)) {
    OS << "  module " << Index << " = ";
    printName(M.Name, OS);
    if (M.Parent.isValid())
      OS << " in(" << M.Parent.Index << ')';
    if (M.Until.isValid()) {
      OS << " until ";
      reference(M.Until);
    }
    OS << '\n';
  }
}

/// `copies(256, 8, 8, 4)`
void BlockPrinter::copies() {
  if (const std::optional<TokenChoice> &C = B.Copies)
    OS << "  copies(" << C->Experts << ", " << C->TopK << ", " << C->Groups
       << ", " << C->GroupTopK << ")\n";
}

/// Prints the totals of a layer, if they are known.
void BlockPrinter::totals() {
#define TOTAL(MEMBER, TYPE, WORD, DOC)                                         \
  printTotal(P, WORD, B.Totals.MEMBER.Id, OS, Sizes);
#include "ir/model/Totals.def"
  printMessages(P, B.Totals.Messages, OS, Sizes);
}

void BlockPrinter::declare(ValueId V) {
  ValueKind Kind = B.Values[V].Kind;
  OS << "  "
     << (Kind == ValueKind::Input   ? "input"
         : Kind == ValueKind::Param ? "param"
                                    : "value")
     << ' ';
  reference(V);
  OS << " : ";
  type(V);
  OS << '\n';
}

/// Names an op by its first result, or by its place if it has none.
void BlockPrinter::served(OpId For) {
  OS << " for(";
  if (B.Ops[For].Results.empty())
    OS << For.Index;
  else
    reference(B.Ops[For].Results[0]);
  OS << ')';
}

void BlockPrinter::location(const Origin &O) {
  OS << " loc(";
  if (O.Range.isValid()) {
    auto [Line, Column] = Locations->locate(O.Range.start());
    auto [EndLine, EndColumn] = Locations->locate({O.Range.File, O.Range.End});
    printQuoted(Locations->name(O.Range.File), OS);
    OS << ':' << Line << ':' << Column << " to " << EndLine << ':' << EndColumn;
  } else {
    OS << "none";
  }
  OS << ", ";
  printQuoted(O.Pass, OS);
  OS << ", ";
  printQuoted(O.Rule, OS);
  OS << ')';
}

void BlockPrinter::print(const Op &O) {
  auto Reference = [this](ValueId V) { reference(V); };
  OS << "  ";
  llvm::interleaveComma(O.Results, OS, Reference);
  OS << (O.Results.empty() ? "" : " = ") << getMnemonic(O.Kind)
     << getSuffix(O.Derivative);
  if (!O.Group.empty())
    OS << '(' << O.Group << ')';
  if (!O.Name.empty()) {
    OS << " @";
    printName(O.Name, OS);
  }
  OS << (O.Operands.empty() ? " none" : " ");
  llvm::interleaveComma(O.Operands, OS, Reference);
  OS << (O.Results.empty() ? "" : " : ");
  llvm::interleaveComma(O.Results, OS, [this](ValueId V) { type(V); });
  if (O.Phase != Phase::Forward)
    OS << ' ' << getName(O.Phase);
  if (O.For.isValid())
    served(O.For);
  if (O.Stated.isValid()) {
    OS << ' ' << getStatedName(O.Kind) << '(';
    ir::print(P, O.Stated, OS, Sizes);
    OS << ')';
  }
  OS << (O.IsLowPrecision ? " low_precision" : "") << O.Messages;
  if (O.Module.isValid())
    OS << " in(" << O.Module.Index << ')';
  if (workOf(P, O) != Flops()) {
    OS << " flops(";
    ir::print(P, O.Work.Id, OS, Sizes);
    OS << ')';
  }
  if (O.Chunk)
    OS << " chunk(" << *O.Chunk << ')';
  for (const auto &[Word, Time] :
       {std::pair(" time(", O.Time), {" hidden(", O.Hidden}})
    if (Time != Nanoseconds())
      OS << Word << Time.value() << " ns)";
  if (Locations)
    location(O.Origin);
  OS << '\n';
}

void BlockPrinter::print() {
  OS << "\nblock ";
  printName(B.Name, OS);
  OS << " {\n";
  signature();
  modules();
  copies();
  totals();
  for (size_t I = 0; I < B.Values.size(); ++I)
    if (!IsMade[I])
      declare(B.Values.idAt(I));
  for (const Op &O : B.Ops)
    print(O);
  OS << "}\n";
}

static void printLayers(const LayerSequence &S, const Program &P,
                        llvm::raw_ostream &OS) {
  if (S.empty())
    OS << "()";
  llvm::interleave(
      S, OS,
      [&](const LayerGroup &G) {
        printPeriods(G.Periods, G.Runs, OS, [&](const BlockRun &R) {
          printName(P.Blocks[R.Block].Name, OS);
        });
      },
      " + ");
  OS << '\n';
}

static void printStage(const Stage &S, const Program &P, llvm::raw_ostream &OS,
                       SizeStyle Style) {
  OS << "\nstage " << printRange({S.First, S.Count}, "..")
     << (S.ReceivesForward ? " receives" : "")
     << (S.SendsForward ? " sends" : "") << " {\n";
  for (const ChunkRun &C : S.Chunks) {
    OS << "  chunk ";
    if (C.Count != 1)
      OS << "* " << C.Count << ' ';
    OS << "= ";
    printLayers(C.Layers, P, OS);
  }
  if (S.Step.isValid()) {
    OS << "  step = ";
    printName(P.Blocks[S.Step].Name, OS);
    OS << '\n';
  }
#define STAGE_TOTAL(MEMBER, TYPE, WORD, DOC)                                   \
  printTotal(P, WORD, S.Totals.MEMBER.Id, OS, Style);
#include "ir/model/Totals.def"
  printMessages(P, S.Totals.Messages, OS, Style);
  OS << "}\n";
}

static void printHeader(const Program &P, llvm::raw_ostream &OS) {
  OS << "ftir " << TextVersion << ' ' << getName(P.level()) << " facts(";
  llvm::StringRef Separator;
#define FACT(ENUMERATOR, SPELLING, MAKES, LEVEL, DOC)                          \
  if (P.Facts.contains(Fact::ENUMERATOR)) {                                    \
    OS << Separator << SPELLING;                                               \
    Separator = ", ";                                                          \
  }
#include "ir/model/Facts.def"
  OS << ")\n\n";
}

static void printMesh(const Mesh &M, llvm::raw_ostream &OS) {
  OS << "\nmesh";
  for (Axis A : allAxes())
    if (M[A] != 1)
      OS << ' ' << getName(A) << ':' << M[A];
  OS << '\n';
}

/// Prints the definitions of used keys that follow from others.
static void printDefinitions(const Program &P, llvm::raw_ostream &OS,
                             SizeStyle Style) {
  for (const ExprNode &N : P.Sizes) {
    if (N.Op != ExprOp::Key || !N.Left.isValid())
      continue;
    OS << "let ";
    printName(nameOf(P.Spec, N.Key), OS);
    OS << " = ";
    print(P, N.Left, OS, Style);
    OS << '\n';
  }
}

void foretrace::ir::print(const Program &P, llvm::raw_ostream &OS,
                          const PrintOptions &Options) {
  printHeader(P, OS);
  printSpec(P.Spec, OS);
  printMesh(P.Mesh, OS);
  if (Options.Sizes == SizeStyle::Names || Options.Sizes == SizeStyle::Both)
    printDefinitions(P, OS, Options.Sizes);
  for (const Block &B : P.Blocks)
    BlockPrinter(P, B, OS, Options).print();
  if (!P.Layers.empty()) {
    OS << "\nlayers = ";
    printLayers(P.Layers, P, OS);
  }
  for (const Stage &S : P.Stages)
    printStage(S, P, OS, Options.Sizes);
  if (P.Facts.contains(Fact::Scheduled))
    printSchedule(P.Schedule, OS);
}
