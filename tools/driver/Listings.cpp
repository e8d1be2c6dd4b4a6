// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/Listings.h"
#include "analysis/Figures.h"
#include "analysis/ModelParameters.h"
#include "backends/Backends.h"
#include "backends/figures/Figures.h"
#include "lang/DidYouMean.h"
#include "lang/Library.h"
#include "lang/ShippedLayers.h"
#include "passes/PassManager.h"
#include "tools/compiler/AllKeys.h"
#include "tools/compiler/Compiler.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <functional>

using namespace llvm;

namespace foretrace::driver {

static void listPasses(RowWriter &To) {
  for (const PassInfo &P : allPasses())
    To.write({P.Name.str(), P.Summary.str()});
}

static void listBackends(RowWriter &To) {
  for (const Backend &B : allBackends())
    To.write({B.Name.str(), B.Summary.str()});
}

static void listOptions(RowWriter &To) {
  for (const Backend &B : allBackends())
    for (const EmitOption &O : B.options())
      To.write({(B.Name + "." + O.Name).str(), O.Expected(), O.Default(),
                O.Doc.str()});
}

static void listAllKeys(RowWriter &To) {
  for (KeyEntry &K : allKeys())
    To.write({K.Section + "." + K.Name.str(), std::move(K.Values),
              K.Default.empty() ? "unset" : std::move(K.Default),
              std::move(K.Doc)});
}

static void listMetrics(RowWriter &To) {
  for (const FigureInfo &F : allFigures())
    To.write({F.Name, getName(F.Unit).str(), F.Doc});
}

static void listDiagnostics(RowWriter &To) {
  for (diag::Id Id : allDiagnostics()) {
    const DiagnosticInfo &Info = getDiagnosticInfo(Id);
    To.write({Info.Slug.str(), getName(Info.Level).str(), Info.Text.str()});
  }
}

/// `groups, state, kernel = 4, width (derived)`.
static std::string keysOf(const layers::Layer &L) {
  std::string Keys;
  for (const ir::LayerKey &K : ir::LayerUse::of(L).Keys) {
    const std::string Default = defaultOf(K);
    Keys += (Keys.empty() ? "" : ", ") + K.Name +
            (Default == "required"  ? ""
             : Default == "derived" ? " (derived)"
                                    : " = " + Default);
  }
  return Keys.empty() ? "no keys" : Keys;
}

static void listLayers(RowWriter &To) {
  for (const layers::Layer &L : shippedLayers())
    if (!L.Doc.empty())
      To.write({L.Name.str(), keysOf(L), L.Doc.str()});
}

/// The kinds of layers of a model, in order: `mla, dense, experts`.
static std::string kindsOf(const ir::ModelSpec &M) {
  SetVector<StringRef> Kinds;
  for (const ir::LayerRun &R : M.Layers)
    for (const ir::LayerRun::Item &I : R.Items)
      for (const ir::LayerUse *Use :
           {&M.Blocks[I.Block].Mixer, &M.Blocks[I.Block].Network})
        if (Use->Kind != "none")
          Kinds.insert(Use->Kind);
  if (const ir::LayerUse *Branch = M.branch())
    Kinds.insert(Branch->Kind);
  return join(Kinds, ", ");
}

/// Lists all models in the same unit, so that they can be compared.
static void listModels(RowWriter &To, bool IsExact) {
  const NumberScale Billions = scaleFor(1e9, countScales());
  const auto Text = [&](int64_t Count) {
    return IsExact ? std::to_string(Count)
                   : scaled(Count, Billions) + Billions.Suffix.str();
  };
  Compiler Session({}, makeIntrusiveRefCnt<vfs::InMemoryFileSystem>());
  for (const LibraryModel &M : libraryModels()) {
    CompiledJob &Job = Session.compileModel(
        "list.fore", ("import \"models/" + M.Title + ".fore\"").str());
    const ir::Program *P = Job.program();
    if (!P)
      report_fatal_error("the model " + M.Title + " is not legal");
    ir::ExprOverlay Sizes(*P);
    const ParameterCount Of = modelParameters(Sizes);
    To.write({M.Title.str(), Text(Of.All.value()), Text(Of.Active.value()),
              kindsOf(P->Spec.Model), M.Source.str()});
    Session.forget(Job);
  }
}

/// Lists the tables of a folder of the library with the keys that each sets,
/// one a line. Shipped tables have no `#` but before comments.
static void listTables(StringRef Folder, RowWriter &To) {
  for (const LibraryFile &F : libraryFiles()) {
    if (sys::path::parent_path(F.Path) != Folder)
      continue;
    SmallVector<StringRef> Lines;
    F.Text.split(Lines, '\n', -1, /*KeepEmpty=*/false);
    for (StringRef &Line : Lines)
      Line = Line.split('#').first.rtrim();
    erase_if(Lines, [](StringRef Line) { return Line.empty(); });
    To.write({sys::path::stem(F.Path).str(), join(Lines, ", ")});
  }
}
static void listRecipes(RowWriter &To) { listTables("recipes", To); }
static void listDeviceKeys(RowWriter &To) { listTables("devices", To); }
static void listClusterKeys(RowWriter &To) { listTables("clusters", To); }

static constexpr StringRef Names[] = {
    "passes", "backends", "options", "keys",    "layers",     "metrics",
    "models", "clusters", "devices", "recipes", "diagnostics"};

namespace {

struct Listing {
  std::vector<RowColumn> Columns;
  std::function<void(RowWriter &)> Write;
};

} // namespace

/// By name.
static std::vector<Listing> listings(bool IsExact) {
  return {
      {{{"pass", false, 24}, {"summary"}}, listPasses},
      {{{"backend", false, 24}, {"summary"}}, listBackends},
      {{{"option", false, 36},
        {"value", false, 0, "; default: "},
        {"default", false, 0, "; "},
        {"meaning"}},
       listOptions},
      {{{"key", false, 36},
        {"value", false, 0, "; default: "},
        {"default", false, 0, "; "},
        {"meaning"}},
       listAllKeys},
      {{{"layer", false, 24}, {"keys", false, 0, "; "}, {"meaning"}},
       listLayers},
      {{{"metric", false, 24}, {"unit", false, 12}, {"meaning"}}, listMetrics},
      {{{"model", false, 32},
        {"parameters", true, 14},
        {"active", true, 14},
        {"layers", false, 0, "; "},
        {"source"}},
       [=](RowWriter &To) { listModels(To, IsExact); }},
      {{{"cluster", false, 24}, {"keys"}}, listClusterKeys},
      {{{"device", false, 24}, {"parameters"}}, listDeviceKeys},
      {{{"recipe", false, 24}, {"keys"}}, listRecipes},
      {{{"slug", false, 28}, {"severity", false, 8}, {"message"}},
       listDiagnostics}};
}

ArrayRef<StringRef> listingNames() { return Names; }

static bool isSummary(StringRef Name) {
  return Name == "devices" || Name == "clusters";
}

std::string mistakeInList(StringRef Name, bool IsAll) {
  if (!is_contained(Names, Name))
    return "expected one of " + join(listingNames(), ", ") +
           didYouMean(Name, Names);
  return IsAll && !isSummary(Name) ? "--all is for devices and clusters" : "";
}

void list(StringRef Name, RowFormat As, bool IsExact, bool IsAll,
          raw_ostream &OS) {
  const auto *Found = find(Names, Name);
  assert(Found != std::end(Names) && "it is one of them");
  IsExact |= isForPrograms(As);
  if (isSummary(Name) && !IsAll)
    return (Name == "devices" ? listDevices : listClusters)(As, IsExact, OS);
  Listing L = listings(IsExact)[static_cast<size_t>(Found - std::begin(Names))];
  RowWriter Writer(std::move(L.Columns), As, OS, /*HasHead=*/false);
  L.Write(Writer);
}

} // namespace foretrace::driver
