// SPDX-License-Identifier: Apache-2.0
#include "tools/output/FolderIdentity.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/iterator_range.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

std::string foretrace::identityOf(StringRef Path) {
  SmallString<256> There(sys::path::is_absolute(Path) ? "/" : ".");
  SmallVector<StringRef, 8> Missing; // what is to be made in it
  for (const StringRef Part :
       make_range(sys::path::begin(Path), sys::path::end(Path))) {
    if (Part == "." || Part == "/")
      continue;
    if (Part == ".." && !Missing.empty()) {
      Missing.pop_back();
      continue;
    }
    SmallString<256> Next(There);
    sys::path::append(Next, Part);
    if (Missing.empty() && sys::fs::exists(Next))
      There = Next;
    else
      Missing.push_back(Part);
  }
  // Not what the system counts files by: it must not change once we have made
  // what is missing.
  SmallString<256> Real;
  if (sys::fs::real_path(There, Real))
    Real = There;
  for (const StringRef Part : Missing)
    sys::path::append(Real, Part);
  return Real.str().str();
}
