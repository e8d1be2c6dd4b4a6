// SPDX-License-Identifier: Apache-2.0
//
// Binds the parameters of kernels that `cost estimate` reads: those of a
// profile, and those of the job, which override them.
#include "frontend/Bind.h"
#include "ir/model/Spellings.h"
#include "lang/DidYouMean.h"
#include "lang/Library.h"
#include "lang/diagnostics/Frontend.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace foretrace;

/// Returns whether the library has that profile; the names of some are not
/// words of the language.
static bool isShippedProfile(llvm::StringRef Name) {
  return llvm::any_of(libraryFiles(), [&](const LibraryFile &F) {
    return F.Path == ("devices/" + Name + ".toml").str();
  });
}

/// Returns the table of a profile of the library, or null after a report.
const ast::Section *Binder::findProfile(llvm::StringRef Name, SourceRange At) {
  const std::string Path = ("devices/" + Name + ".toml").str();
  std::vector<llvm::StringRef> Names;
  for (const LibraryFile &F : libraryFiles()) {
    if (F.Path == Path)
      return Files.loadTable((llvm::Twine(LibraryFolder) + "/" + Path).str());
    if (llvm::sys::path::parent_path(F.Path) == "devices")
      Names.push_back(llvm::sys::path::stem(F.Path));
  }
  suggest(Diags.report(At, diag::UnknownDeviceProfile, Name), At, Name, Names);
  return nullptr;
}

void Binder::bindKernel(const Field &F, const std::string &Name,
                        SourceRange Profile, ir::CostSpec &C) {
  const std::optional<ir::KernelParameterId> Id = ir::findKernelParameter(Name);
  if (!Id) {
    std::vector<llvm::StringRef> Names;
    for (const ir::KernelParameterInfo &R : ir::kernelParameters())
      Names.push_back(R.Name);
    suggest(Diags.report(F.Key.Range, diag::UnknownKernelParameter, Name),
            F.Key.Range, Name, Names);
    return;
  }
  const std::optional<ExprValue> V = Eval.evaluate(*F.Value, *F.Names);
  if (!V)
    return;
  const ir::KernelParameterInfo &Row = getInfo(*Id);
  const auto Text = [&](double Number) {
    return *format(ExprValue{Number, Dimension::Count, V->Range});
  };
  if (!V->isNumber() || V->Dim != Dimension::Count || V->asReal() < Row.Least ||
      V->asReal() > Row.Most) {
    Diags.report(V->Range, diag::KernelParameterRange, Name,
                 format(*V).value_or(describe(*V)), Text(Row.Least),
                 Text(Row.Most));
    return;
  }
  auto Old = llvm::find_if(
      C.Kernels, [&](const ir::KernelParameter &K) { return K.Id == *Id; });
  if (Old == C.Kernels.end())
    Old = C.Kernels.insert(Old, {*Id, 0, {}, {}});
  // The text of the library has no place in a job.
  const bool IsOfJob = !Profile.isValid();
  Old->Value = V->asReal();
  Old->Range = IsOfJob ? F.Key.Range : Profile;
  Old->At = IsOfJob ? V->Range : Profile;
}

/// The device that a profile was fitted on. The text of the library has no
/// place in a job.
void Binder::bindFittedOn(const Field &F, SourceRange Profile,
                          ir::CostSpec &C) {
  const std::optional<ExprValue> V = Eval.evaluate(*F.Value, *F.Names);
  if (const std::string *Name = V ? V->asText() : nullptr)
    C.FittedOn.derive(*Name, Profile.isValid() ? Profile : V->Range);
  else if (V)
    Diags.report(V->Range, diag::WrongType, F.Key.Text, describe(*V),
                 "the name of a device in quotes");
}

/// Adds the parameters of a table; tables in it prefix their names.
void Binder::bindKernels(const Body &B, const std::string &Prefix,
                         SourceRange Profile, ir::CostSpec &C) {
  for (const Field &F : B.Fields)
    if (Prefix.empty() && F.Key.Text == "fitted_on")
      bindFittedOn(F, Profile, C);
    else
      bindKernel(F, Prefix + F.Key.Text, Profile, C);
  for (const Body &Sub : B.Sections)
    if (!Prefix.empty() || Sub.Keyword.Text != "serving")
      bindKernels(Sub, Prefix + Sub.Keyword.Text + ".", Profile, C);
}

/// Adds what a profile states in its table `serving` for jobs that serve, with
/// any engine, and there in a table with the name of their engine.
void Binder::bindServing(const Body &Profile, SourceRange At, ir::Spec &S) {
  const Body *Serving = S.Serve ? Profile.findSection("serving") : nullptr;
  if (!Serving)
    return;
  Body OfAll = *Serving;
  llvm::erase_if(OfAll.Sections, [](const Body &Sub) {
    return ir::findSpelling<ir::EngineKind>(Sub.Keyword.Text).has_value();
  });
  bindKernels(OfAll, "", At, S.Cost);
  if (const Located<ir::EngineKind> &Engine = S.Serve->Engine;
      Engine.isPresent())
    if (const Body *Own = Serving->findSection(ir::getSpelling(*Engine)))
      bindKernels(*Own, "", At, S.Cost);
}

void Binder::bindKernels(ir::Spec &S) {
  const Body &Cost = TheJob.Cost;
  if (!S.Cost.Kind.isPresent()) {
    if (!S.Cluster || !S.Cluster->Device.Profile.isPresent())
      return;
    S.Cost.Kind.derive(ir::CostKind::Estimate, S.Cluster->Device.Profile.Range);
  }
  if (*S.Cost.Kind != ir::CostKind::Estimate) {
    for (const llvm::StringRef Key : {"profile", "borrow"})
      if (const Field *F = Cost.findField(Key))
        Diags.report(F->Key.Range, diag::KeyWithoutEffect, Key,
                     "without `cost estimate`");
    for (const Body &Sub : Cost.Sections)
      if (Sub.Keyword.Text == "kernels")
        Diags.report(Sub.Keyword.Range, diag::KeyWithoutEffect, "kernels",
                     "without `cost estimate`");
    return;
  }
  Body Table;
  const Field *F = Cost.findField("profile");
  if (F && std::holds_alternative<ast::Binary>(F->Value->Node) &&
      isShippedProfile(Eval.source(F->Value->Range))) {
    S.Cost.DeviceProfile.state(Eval.source(F->Value->Range).str(),
                               F->Value->Range);
  } else if (F) {
    const std::optional<ExprValue> V =
        Eval.evaluate(*F->Value, *F->Names, Words::Any);
    if (V && V->getIf<TableValue>()) {
      Bodies.mergeTable(Table, *F);
      bindKernels(Table, "", {}, S.Cost);
      bindServing(Table, {}, S);
      if (S.Cost.Kernels.empty() && !Diags.hasErrors())
        Diags.report(F->Value->Range, diag::WrongType, "profile",
                     "a table without parameters of kernels",
                     "the name of a device profile, or such a table");
      S.Cost.DeviceProfile.state("job", F->Value->Range);
    } else if (const std::string *Name = V ? V->asText() : nullptr) {
      S.Cost.DeviceProfile.state(*Name, V->Range);
    } else if (V) {
      Diags.report(V->Range, diag::WrongType, "profile", describe(*V),
                   "the name of a device profile, or a table");
    }
  } else if (S.Cluster && S.Cluster->Device.Profile.isPresent()) {
    const Located<std::string> &OfDevice = S.Cluster->Device.Profile;
    S.Cost.DeviceProfile.derive(*OfDevice, Cost.Label.Range.isValid()
                                               ? Cost.Label.Range
                                               : OfDevice.Range);
  }
  const Located<std::string> &Name = S.Cost.DeviceProfile;
  if (Name.isPresent() && S.Cost.Kernels.empty() && !Diags.hasErrors())
    if (const ast::Section *Of = findProfile(*Name, Name.Range)) {
      static const Scope NoNames; // of a table
      Body Profile;
      Bodies.merge(Profile, *Of, NoNames);
      bindKernels(Profile, "", Name.Range, S.Cost);
      bindServing(Profile, Name.Range, S);
    }
  Body Own;
  if (findTable(Cost, "kernels", Own))
    bindKernels(Own, "", {}, S.Cost);
  if (S.Cost.Kernels.empty() && !Diags.hasErrors())
    Diags.report(Cost.Label.Range, diag::MissingKey, "cost estimate", "profile",
                 "h100");
}
