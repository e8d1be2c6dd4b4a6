// SPDX-License-Identifier: Apache-2.0
//
// An Emission of the options and the functions that a backend defines.
// Private to the backends.
#pragma once

#include "backends/Backends.h"
#include "backends/Locate.h"
#include "backends/OptionKinds.h"
#include "backends/figures/Figures.h"
#include "lang/diagnostics/Backends.h"

namespace foretrace {

/// The functions of the backend with these options; null are those that it has
/// not.
template <typename OptionsT> struct FunctionsOf;
#define ROW(NAMESPACE, EMIT, COMMAND, FIGURES, LOCATE)                         \
  template <> struct FunctionsOf<NAMESPACE::Options> {                         \
    static constexpr auto Needs = NAMESPACE::needs;                            \
    static constexpr auto Check = NAMESPACE::check;                            \
    static constexpr auto Emit = EMIT;                                         \
    static constexpr auto Command = COMMAND;                                   \
    static constexpr auto Figures = FIGURES;                                   \
    static constexpr auto Locate = LOCATE;                                     \
  };
#define BACKEND(NAMESPACE, NAME, SUMMARY, COMMAND)                             \
  ROW(NAMESPACE, NAMESPACE::emit, COMMAND, nullptr, nullptr)
#define LOCATED(NAMESPACE, NAME, SUMMARY, COMMAND, NEEDED, POSSIBLE)           \
  ROW(NAMESPACE, NAMESPACE::emit, COMMAND, nullptr, NAMESPACE::locate)
#define FIGURES(NAMESPACE, NAME, SUMMARY)                                      \
  ROW(NAMESPACE, nullptr, nullptr, NAMESPACE::figures, nullptr)
#include "backends/Backends.def"
#undef ROW

/// Rows of Backends.def.
template <typename OptionsT> constexpr ServedStep Serves = NoStep;
#define BACKEND(...)
#define SERVED(NAMESPACE, STEP)                                                \
  template <> inline constexpr ServedStep Serves<NAMESPACE::Options> = STEP;
#include "backends/Backends.def"

/// An `emit` block of the backend with these options.
template <typename OptionsT> class EmissionOf final : public Emission {
  using Of = FunctionsOf<OptionsT>;
  template <auto Function>
  static constexpr bool Has = !std::is_null_pointer_v<decltype(Function)>;
  static constexpr bool HasFigures = Has<Of::Figures>;

public:
  explicit EmissionOf(OptionsT Read) : Options(std::move(Read)) {}

  ir::FactSet needs() const override { return Of::Needs(Options); }
  ServedStep servedStep() const override { return Serves<OptionsT>; }
  bool check(const EmitRequest &Request,
             DiagnosticEngine &Diags) const override {
    if (Request.Program.Spec.Serve && Serves<OptionsT> == NoStep) {
      Diags.report(Request.Emit.Range, diag::ServeBackend,
                   Request.Emit.Backend);
      return false;
    }
    if (Request.Program.Spec.Serve && Serves<OptionsT> != Untimed)
      warnOfDurations(Request, needs(), Diags);
    return Of::Check(Request, Options, Diags);
  }
  llvm::Error emit(const EmitRequest &Request, OutputSet &Out) const override {
    if constexpr (HasFigures)
      return emitFigures(Request, Of::Figures(Request, Options), Out);
    else
      return Of::Emit(Request, Options, Out);
  }
  std::string showCommand(const EmitRequest &Request,
                          llvm::StringRef File) const override {
    if constexpr (Has<Of::Command>)
      return Of::Command(Request, Options, File);
    else
      return "";
  }
  std::optional<Figures> figures(const EmitRequest &Request) const override {
    if constexpr (HasFigures)
      return Of::Figures(Request, Options);
    else
      return std::nullopt;
  }
  llvm::Error emitFigures(const EmitRequest &Request, const Figures &F,
                          OutputSet &Out) const override {
    if constexpr (HasFigures)
      return addFigures(Request, Options, F, Out);
    else
      return Emission::emitFigures(Request, F, Out);
  }
  llvm::Expected<Subjects> locate(const EmitRequest &Request,
                                  const CellQuery &Asked) const override {
    if constexpr (HasFigures) {
      DiagnosticEngine Diags;
      if (!check(Request, Diags))
        return errorOf("--emit", Diags);
      return locateFigure(Request, Of::Figures(Request, Options), *Asked.Name);
    } else if constexpr (Has<Of::Locate>) {
      return Of::Locate(Request, Options, Asked);
    } else {
      return Emission::locate(Request, Asked);
    }
  }

private:
  const OptionsT Options;
};

/// Returns the reader of the options in \p Rows. \p Finish, unless null, takes
/// the block and its options and reports what no row can, such as options that
/// exclude each other.
template <typename OptionsT, auto Finish = nullptr>
constexpr EmitReader readerOf(llvm::ArrayRef<EmitOption> Rows) {
  return {Rows,
          [](const ir::EmitSpec &Block, llvm::ArrayRef<EmitOption> Of,
             DiagnosticEngine &Diags) -> std::unique_ptr<Emission> {
            auto Read = readEmitOptions<OptionsT>(Block, Of, Diags);
            if constexpr (!std::is_null_pointer_v<decltype(Finish)>)
              Finish(Block, Read, Diags);
            return std::make_unique<EmissionOf<OptionsT>>(std::move(Read));
          }};
}

} // namespace foretrace
