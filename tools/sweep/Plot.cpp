// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Plot.h"
#include "tools/sweep/PlotData.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::sweep {

/// A part of the page, under tools/sweep/plot.
struct PageFile {
  StringLiteral Name, Text;
};
static constexpr PageFile PageFiles[] = {
#include "tools/sweep/PageFiles.inc"
};

static StringRef textOf(StringRef Name) {
  for (const PageFile &F : PageFiles)
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

Expected<PlotColumns> PlotColumns::read(StringRef Text) {
  PlotColumns Of;
  const auto [First, Second] = Text.split(',');
  for (const StringRef Part : {First, Second}) {
    const auto [Name, Column] = Part.split('=');
    if (Name.trim() == "x")
      Of.X = Column.trim().str();
    else if (Name.trim() == "y")
      Of.Y = Column.trim().str();
  }
  if (Of.X.empty() || Of.Y.empty() || Second.contains(','))
    return createStringError("--plot: `" + Text +
                             "` is not `x=memory,y=flops`");
  return Of;
}

Plot::Plot(std::string PagePath, std::unique_ptr<PlotData> Data)
    : PagePath(std::move(PagePath)), Data(std::move(Data)) {}
Plot::Plot(Plot &&) noexcept = default;
Plot::~Plot() = default;

std::string Plot::pathOf(StringRef Path) {
  SmallString<256> PagePath = Path;
  sys::path::replace_extension(PagePath, "html");
  return PagePath.str().str();
}

Expected<Plot> Plot::open(StringRef Path, PlotColumns Of) {
  std::string PagePath = pathOf(Path);
  if (PagePath == Path)
    return createStringError("--plot: `" + Path +
                             "` is where the page belongs; call the database "
                             "`.db`");
  Expected<std::unique_ptr<PlotData>> Data =
      PlotData::open(Path, std::move(Of));
  if (!Data)
    return Data.takeError();
  return Plot(std::move(PagePath), std::move(*Data));
}

Error Plot::write(raw_ostream &OS) {
  StringRef Rest = textOf("page.html");
  while (!Rest.empty()) {
    const auto [Before, From] = Rest.split("{{");
    const auto [Part, After] = From.split("}}");
    OS << Before;
    if (Part == "data") {
      ScriptData Out(OS);
      if (Error E = Data->write(Out))
        return E;
    } else if (!Part.empty()) {
      OS << textOf(Part);
    }
    Rest = After;
  }
  return Error::success();
}

Error writePage(Plot &Of, const OutputOptions &Options, InputFiles Inputs) {
  FileOutputs Out("", "", Options, std::move(Inputs));
  Error Failed = Error::success();
  Error Added = Out.add(Of.pagePath(), [&](raw_ostream &OS) {
    Failed = joinErrors(std::move(Failed), Of.write(OS));
  });
  if (Error E = joinErrors(std::move(Failed), std::move(Added)))
    return E;
  if (Error E = Out.commit())
    return E;
  if (Options.ShowsProgress)
    for (const FileOutputs::File &F : Out.files())
      errs() << "wrote " << F.Path << " (" << F.Bytes << " bytes)\n";
  return Error::success();
}

} // namespace foretrace::sweep
