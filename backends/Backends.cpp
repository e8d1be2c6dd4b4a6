// SPDX-License-Identifier: Apache-2.0
#include "backends/Backends.h"
#include "backends/Locate.h"
#include "backends/aicb/Aicb.h"
#include "backends/astra/Astra.h"
#include "backends/chakra/Chakra.h"
#include "backends/figures/Figures.h"
#include "backends/flops/Flops.h"
#include "backends/goal/Goal.h"
#include "backends/ir/IR.h"
#include "backends/json/JSON.h"
#include "backends/megatron/Megatron.h"
#include "backends/memory/Memory.h"
#include "backends/optimus/Optimus.h"
#include "backends/params/Params.h"
#include "backends/perfetto/Perfetto.h"
#include "backends/plan/Plan.h"
#include "backends/report/Report.h"
#include "backends/schedule/Schedule.h"
#include "backends/shapes/Shapes.h"
#include "backends/simai/Simai.h"
#include "backends/simainet/SimaiNet.h"
#include "backends/simgrid/SimGrid.h"
#include "backends/time/Time.h"
#include "backends/volume/Volume.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;

namespace {

template <auto Figure>
constexpr bool HasFigures = !std::is_null_pointer_v<decltype(Figure)>;

/// The functions of a backend's namespace, with the options that \p Read has
/// read. \p Command, \p Figure and \p Locate may be null, and \p Emit if
/// \p Figure is not.
template <typename OptionsT, auto Read, auto Needs, auto Check, auto Emit,
          auto Command, auto Figure, auto Locate>
class EmissionOf final : public Emission {
public:
  EmissionOf(const ir::EmitSpec &Block, DiagnosticEngine &Diags)
      : Options(Read(Block, Diags)) {}

  ir::FactSet needs() const override { return Needs(Options); }
  bool check(const EmitRequest &Request,
             DiagnosticEngine &Diags) const override {
    return Check(Request, Options, Diags);
  }
  llvm::Error emit(const EmitRequest &Request, OutputSet &Out) const override {
    if constexpr (HasFigures<Figure>)
      return emitFigures(Request, Figure(Request, Options), Out);
    else
      return Emit(Request, Options, Out);
  }
  std::string showCommand(const EmitRequest &Request,
                          llvm::StringRef File) const override {
    if constexpr (std::is_null_pointer_v<decltype(Command)>)
      return "";
    else
      return Command(Request, Options, File);
  }
  std::optional<Figures> figures(const EmitRequest &Request) const override {
    if constexpr (HasFigures<Figure>)
      return Figure(Request, Options);
    else
      return std::nullopt;
  }
  llvm::Error emitFigures(const EmitRequest &Request, const Figures &F,
                          OutputSet &Out) const override {
    if constexpr (HasFigures<Figure>)
      return addFigures(Request, Options.File, Options.Format, Options.IsExact,
                        F, Out);
    else
      return Emission::emitFigures(Request, F, Out);
  }
  llvm::Expected<Subjects> locate(const EmitRequest &Request,
                                  const CellQuery &Asked) const override {
    if constexpr (HasFigures<Figure>) {
      DiagnosticEngine Diags;
      if (!Check(Request, Options, Diags))
        return errorOf("--emit", Diags);
      return locateFigure(Request, Figure(Request, Options), *Asked.Name);
    } else if constexpr (!std::is_null_pointer_v<decltype(Locate)>) {
      return Locate(Request, Options, Asked);
    } else {
      return Emission::locate(Request, Asked);
    }
  }

private:
  const OptionsT Options;
};

template <typename EmissionT>
std::unique_ptr<Emission> makeEmission(const ir::EmitSpec &Block,
                                       DiagnosticEngine &Diags) {
  return std::make_unique<EmissionT>(Block, Diags);
}

} // namespace

llvm::ArrayRef<Backend> foretrace::allBackends() {
#define ROW(NAMESPACE, NAME, SUMMARY, EMIT, COMMAND, FIGURES, IS_OF_MODEL,     \
            LOCATE, NEEDED, POSSIBLE)                                          \
  {NAME,                                                                       \
   SUMMARY,                                                                    \
   IS_OF_MODEL,                                                                \
   HasFigures<FIGURES>,                                                        \
   NEEDED,                                                                     \
   POSSIBLE,                                                                   \
   NAMESPACE::optionTable,                                                     \
   makeEmission<EmissionOf<NAMESPACE::Options, NAMESPACE::readOptions,         \
                           NAMESPACE::needs, NAMESPACE::check, EMIT, COMMAND,  \
                           FIGURES, LOCATE>>},
  static constexpr Backend Backends[] = {
#define BACKEND(NAMESPACE, NAME, SUMMARY, COMMAND)                             \
  ROW(NAMESPACE, NAME, SUMMARY, NAMESPACE::emit, COMMAND, nullptr, false,      \
      nullptr, NoChoice, NoChoice)
#define LOCATED(NAMESPACE, NAME, SUMMARY, COMMAND, NEEDED, POSSIBLE)           \
  ROW(NAMESPACE, NAME, SUMMARY, NAMESPACE::emit, COMMAND, nullptr, false,      \
      NAMESPACE::locate, NEEDED, POSSIBLE)
#define FIGURES(NAMESPACE, NAME, SUMMARY)                                      \
  ROW(NAMESPACE, NAME, SUMMARY, nullptr, nullptr, NAMESPACE::figures, false,   \
      nullptr, ByName, NoChoice)
#define MODEL_FIGURES(NAMESPACE, NAME, SUMMARY)                                \
  ROW(NAMESPACE, NAME, SUMMARY, nullptr, nullptr, NAMESPACE::figures, true,    \
      nullptr, ByName, NoChoice)
#include "backends/Backends.def"
  };
#undef ROW
  return Backends;
}

const Backend *foretrace::findBackend(llvm::StringRef Name) {
  const Backend *Found = llvm::find_if(
      allBackends(), [Name](const Backend &B) { return B.Name == Name; });
  return Found == allBackends().end() ? nullptr : Found;
}

std::string foretrace::backendNames() {
  return llvm::join(
      llvm::map_range(allBackends(), [](const Backend &B) { return B.Name; }),
      ", ");
}
