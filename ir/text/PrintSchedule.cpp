// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Spellings.h"
#include "ir/schedule/ScheduleBuilder.h"
#include "ir/text/TextWriter.h"
#include "lang/NumberText.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class SchedulePrinter {
public:
  SchedulePrinter(const Schedule &S, llvm::raw_ostream &OS)
      : S(S), Scratch(S), OS(OS) {}

  void print();

private:
  void print(const StageProgram &P);
  void print(const Slot &Of);
  void address(const Slot &Of);
  void index(llvm::StringRef Word, IndexId I) {
    OS << Word;
    S.Indices.print(I, OS);
  }

  const Schedule &S;
  Schedule Scratch; ///< has a table for addresses to compare with
  llvm::raw_ostream &OS;
};

} // namespace

void SchedulePrinter::print(const Slot &Of) {
  OS << "      ";
  if (Of.Start != SlotStart::After)
    OS << getSpelling(Of.Start) << ' ';
  OS << getSpelling(Of.Kind);
  if (Of.MicroBatch.isValid()) {
    index("(", Of.MicroBatch);
    if (S.Indices.constantAt(Of.Chunk) != 0)
      index(", ", Of.Chunk);
    OS << ')';
  }
  if (isMessage(Of.Kind))
    address(Of);
  OS << '\n';
}

/// Prints the peer and chunk that do not follow from the placement.
void SchedulePrinter::address(const Slot &Of) {
  Slot Usual = Of;
  ScheduleBuilder(Scratch).address(Usual);
  if (Usual.Peer != Of.Peer) {
    index(isSend(Of.Kind) ? " to(" : " from(", Of.Peer);
    OS << ')';
  }
  if (Usual.Tag != Of.Tag) {
    index(" tag(", Of.Tag);
    OS << ')';
  }
}

void SchedulePrinter::print(const StageProgram &P) {
  OS << "  program " << printRange({P.First, P.Count}, "..") << " {\n";
  for (const SlotLoop &L : P.Loops) {
    index("    for i < ", L.Count);
    OS << ' ' << getSpelling(L.Phase) << " {\n";
    for (const Slot &Of : L.Slots)
      print(Of);
    OS << "    }\n";
  }
  OS << "  }\n";
}

void SchedulePrinter::print() {
  OS << "\nschedule " << getSpelling(S.Kind) << ' ' << getSpelling(S.Placement)
     << ' ' << getSpelling(S.Transport) << " stages(" << S.Stages << ") chunks("
     << S.Chunks << ") micro_batches(" << S.MicroBatches << ") group("
     << S.Group << ") {\n";
  for (const auto &[I, Name] : S.Indices.names()) {
    OS << "  let " << Name << " = ";
    S.Indices.printDefinition(I, OS);
    OS << '\n';
  }
  for (const StageProgram &P : S.Programs)
    print(P);
  OS << "}\n";
}

void foretrace::ir::printSchedule(const Schedule &S, llvm::raw_ostream &OS) {
  SchedulePrinter(S, OS).print();
}
