// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/Profile.h"
#include "llvm/Support/Format.h"

using namespace foretrace;

void foretrace::runs::writeProfile(const ir::CostSpec &C,
                                   llvm::StringRef Comment,
                                   llvm::raw_ostream &OS) {
  OS << "# " << Comment << "\n";
  // Tables of the table follow it.
  llvm::StringRef Table = "";
  OS << "[times] # us\n";
  for (const ir::ProfileTime &T : C.Profile) {
    auto [Prefix, Name] = llvm::StringRef(T.Section).rsplit('.');
    if (Name.empty())
      std::swap(Prefix, Name);
    if (Prefix != Table) {
      Table = Prefix;
      OS << "\n[times." << Table << "]\n";
    }
    OS << Name << " = " << llvm::format("%.3f", T.Microseconds) << "\n";
  }
  for (const ir::LinkSpec &L : C.Links)
    OS << "\n[links." << getName(L.Axis) << "]\nlatency = " << *L.Latency
       << " # ns\nbandwidth = " << *L.Bandwidth
       << (*L.Bandwidth == EndlessBandwidth
               ? " # B/s: times did not grow with size\n"
               : " # B/s\n");
}
