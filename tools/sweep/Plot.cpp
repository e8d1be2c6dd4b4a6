// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/Plot.h"
#include "analysis/Figures.h"
#include "backends/PageTemplate.h"
#include "lang/NumberText.h"
#include "tools/sweep/PlotData.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::sweep {

/// Under tools/sweep/plot; the first is the page.
static constexpr PageFile PageFiles[] = {
#include "tools/sweep/PageFiles.inc"
};

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
    return createStringError("--plot: `" + Text + "` is not `x=peak,y=flops`");
  return Of;
}

Error missingColumn(StringRef Name) {
  return createStringError(
      "--plot: `" + Name + "` is missing at every point" +
      (isOfTime(Name) ? "; the time of an iteration is estimated for sweeps "
                        "that read it, for example with `--minimize time`"
                      : ""));
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
  return foretrace::writePage(
      PageFiles, OS, [&](raw_ostream &Out) { return Data->write(Out); });
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
      errs() << "wrote " << F.Path << " ("
             << printBytes(static_cast<double>(F.Bytes)) << ")\n";
  return Error::success();
}

} // namespace foretrace::sweep
