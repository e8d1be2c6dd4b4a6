// SPDX-License-Identifier: Apache-2.0
#include "backends/PageTemplate.h"
#include "backends/Palette.h"
#include "llvm/Support/ErrorHandling.h"

using namespace foretrace;
using llvm::raw_ostream;
using llvm::StringRef;

/// Parts of all pages, beside this file.
static constexpr PageFile SharedFiles[] = {
#include "backends/SharedPageFiles.inc"
};

static StringRef textOf(llvm::ArrayRef<PageFile> Files, StringRef Name) {
  for (const llvm::ArrayRef<PageFile> Some : {Files, {SharedFiles}})
    for (const PageFile &F : Some)
      if (F.Name == Name)
        return F.Text;
  llvm_unreachable("the page names a part that is not there");
}

void foretrace::writePalette(raw_ostream &OS) {
  static constexpr Colour All[] = {
#define COLOUR(ENUMERATOR, ...) palette::ENUMERATOR,
#include "backends/Palette.def"
  };
  auto Write = [&](StringRef Selector, StringRef Scheme,
                   llvm::StringLiteral Colour::*Shade) {
    OS << Selector << " {\n  color-scheme: " << Scheme << ";\n";
    for (const Colour &C : All)
      OS << "  --" << C.Name << ": " << C.*Shade << ";\n";
    OS << "}\n";
  };
  Write(":root", "light", &Colour::Light);
  OS << "@media (prefers-color-scheme: dark) {\n";
  Write(":root:not([data-theme=\"light\"])", "dark", &Colour::Dark);
  OS << "}\n";
  Write(":root[data-theme=\"dark\"]", "dark", &Colour::Dark);
}

namespace {

/// JSON within a page: `<` occurs only in texts, where it must not end the
/// script.
class ScriptData final : public raw_ostream {
public:
  explicit ScriptData(raw_ostream &OS) : OS(OS) {}
  ~ScriptData() override { flush(); }

private:
  void write_impl(const char *Data, size_t Size) override {
    for (const char C : StringRef(Data, Size))
      if (C == '<')
        OS << "\\u003c";
      else
        OS << C;
  }
  uint64_t current_pos() const override { return OS.tell(); }

  raw_ostream &OS;
};

} // namespace

llvm::Error
foretrace::writePage(llvm::ArrayRef<PageFile> Files, raw_ostream &OS,
                     llvm::function_ref<llvm::Error(raw_ostream &)> WriteData) {
  StringRef Rest = Files.front().Text;
  while (!Rest.empty()) {
    const auto [Before, From] = Rest.split("{{");
    const auto [Part, After] = From.split("}}");
    OS << Before;
    if (Part == "data") {
      ScriptData Out(OS);
      if (llvm::Error E = WriteData(Out))
        return E;
    } else if (Part == "palette") {
      writePalette(OS);
    } else if (!Part.empty()) {
      OS << textOf(Files, Part);
    }
    Rest = After;
  }
  return llvm::Error::success();
}
