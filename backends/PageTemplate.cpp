// SPDX-License-Identifier: Apache-2.0
#include "backends/PageTemplate.h"
#include "llvm/Support/ErrorHandling.h"

using namespace foretrace;
using llvm::raw_ostream;
using llvm::StringRef;

static StringRef textOf(llvm::ArrayRef<PageFile> Files, StringRef Name) {
  for (const PageFile &F : Files)
    if (F.Name == Name)
      return F.Text;
  llvm_unreachable("the page names a part that is not there");
}

namespace {

/// JSON within a page: `<` stands only in texts, where it must not end the
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
    } else if (!Part.empty()) {
      OS << textOf(Files, Part);
    }
    Rest = After;
  }
  return llvm::Error::success();
}
