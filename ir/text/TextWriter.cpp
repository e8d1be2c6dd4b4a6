// SPDX-License-Identifier: Apache-2.0
#include "ir/text/TextWriter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <charconv>

using namespace foretrace;

bool ir::isWordCharacter(char C) {
  return llvm::isAlnum(C) || C == '_' || C == '.' || C == '-';
}

bool ir::isWord(llvm::StringRef Text) {
  return !Text.empty() && (llvm::isAlpha(Text[0]) || Text[0] == '_') &&
         llvm::all_of(Text, isWordCharacter);
}

void ir::printQuoted(llvm::StringRef Text, llvm::raw_ostream &OS) {
  OS << '"';
  for (char C : Text) {
    if (C == '"' || C == '\\')
      OS << '\\' << C;
    else if (llvm::isPrint(C))
      OS << C;
    else
      OS << "\\x" << llvm::hexdigit(static_cast<unsigned char>(C) >> 4)
         << llvm::hexdigit(static_cast<unsigned char>(C) & 15);
  }
  OS << '"';
}

void ir::printName(llvm::StringRef Text, llvm::raw_ostream &OS) {
  if (isWord(Text))
    OS << Text;
  else
    printQuoted(Text, OS);
}

void ir::printReal(double V, llvm::raw_ostream &OS) {
  char Buffer[32];
  auto [End, Error] = std::to_chars(Buffer, Buffer + sizeof(Buffer), V);
  llvm::StringRef Text(Buffer, static_cast<size_t>(End - Buffer));
  OS << Text
     << (Text.find_first_of(".en") == llvm::StringRef::npos ? ".0" : "");
}
