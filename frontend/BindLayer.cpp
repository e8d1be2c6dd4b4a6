// SPDX-License-Identifier: Apache-2.0
//
// Binds the layers of a block: `attention gqa { ... }`, where `gqa` is a layer
// of the library or one that the job defines.
#include "frontend/Bind.h"
#include "lang/DidYouMean.h"
#include "lang/ShippedLayers.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"

using namespace foretrace;

void foretrace::addLayer(Job &J, const layers::Layer &L,
                         DiagnosticEngine &Diags) {
  const auto Before = llvm::find_if(J.Layers, [&](const layers::Layer *Other) {
    return Other->Name == L.Name;
  });
  if (Before != J.Layers.end())
    Diags.report(L.Range, diag::LayerTwice, L.Name)
        .note((*Before)->Range, diag::DeclaredHere, L.Name);
  else if (const auto *Unknown = llvm::find_if(L.Roles,
                                               [](llvm::StringRef Role) {
                                                 return Role != "attention" &&
                                                        Role != "ffn" &&
                                                        Role != "tower";
                                               });
           Unknown != L.Roles.end())
    Diags.report(L.Range, diag::UnknownSpelling, *Unknown,
                 "attention, ffn, tower");
  else if (const layers::Layer *Shipped = findShippedLayer(L.Name);
           Shipped && !Shipped->Doc.empty())
    Diags.report(L.Range, diag::LayerOfLibrary, L.Name);
  else
    J.Layers.push_back(&L);
}

void foretrace::addDim(Job &J, const ast::Dim &D, DiagnosticEngine &Diags) {
  const auto Before = llvm::find_if(J.Dims, [&](const ast::Dim *Other) {
    return Other->Name.Text == D.Name.Text;
  });
  if (Before != J.Dims.end())
    Diags.report(D.Name.Range, diag::DimTwice, D.Name.Text)
        .note((*Before)->Name.Range, diag::DeclaredHere, D.Name.Text);
  else if (ir::findDim(ir::Spec(), D.Name.Text) ||
           llvm::is_contained({"pack", "last", "rest"}, D.Name.Text))
    Diags.report(D.Name.Range, diag::DimTwice, D.Name.Text);
  else if (J.Dims.size() == ir::MaxDeclaredDims)
    Diags.report(D.Name.Range, diag::DimsTooMany, ir::MaxDeclaredDims);
  else
    J.Dims.push_back(&D);
  for (const ast::Word &A : D.Axes)
    if (A.Text != "tp" && A.Text != "cp")
      Diags.report(A.Range, diag::UnknownSpelling, A.Text, "tp, cp");
}

ir::DimInfo Binder::bindDim(const ast::Dim &D) {
  ir::AxisList Axes;
  for (const ast::Word &A : D.Axes)
    if (const auto Axis = ir::findAxis(A.Text))
      Axes.push_back(*Axis);
  llvm::sort(Axes);
  Axes.erase(llvm::unique(Axes), Axes.end());
  return ir::declaredDim(D.Name.Text, Axes);
}

/// Returns whether a layer can be in that section; one without roles can be
/// attention and a network.
static bool hasRole(const layers::Layer &L, llvm::StringRef Section) {
  return (!L.hasSections() && Section != "branch") ||
         llvm::is_contained(L.Roles, Section);
}

/// Returns whether a layer of the library can be in that section; parts of
/// others are not documented.
static bool isFor(const layers::Layer &L, llvm::StringRef Section) {
  return !L.Doc.empty() && hasRole(L, Section);
}

/// A layer of the job, or one of the library.
const layers::Layer *Binder::findLayer(llvm::StringRef Section,
                                       llvm::StringRef Name) const {
  const auto Found = llvm::find_if(
      TheJob.Layers, [&](const layers::Layer *L) { return L->Name == Name; });
  if (Found != TheJob.Layers.end() && hasRole(**Found, Section))
    return *Found;
  const layers::Layer *Shipped = findShippedLayer(Name);
  return Shipped && isFor(*Shipped, Section) ? Shipped : nullptr;
}

/// Returns all names that findLayer finds: those of the job, those of the
/// library made for the section, and others.
std::vector<llvm::StringRef> Binder::layerNames(llvm::StringRef Section) const {
  std::vector<llvm::StringRef> Names;
  for (const layers::Layer *L : TheJob.Layers)
    if (hasRole(*L, Section))
      Names.push_back(L->Name);
  for (const bool HasRoles : {true, false})
    for (const layers::Layer &L : shippedLayers())
      if (isFor(L, Section) && L.hasSections() == HasRoles)
        Names.push_back(L.Name);
  return Names;
}

/// A use of \p L; reports keys that cannot be declared.
ir::LayerUse Binder::declare(const layers::Layer &L) {
  constexpr size_t MaxKeys = ir::BlockSpec::MaxLayerKeys / 2;
  ir::LayerUse Use = ir::LayerUse::of(L);
  if (Use.Keys.size() > MaxKeys) {
    Diags.report(Use.Keys[MaxKeys].Declared->Range, diag::EntryLimit,
                 "the keys of a layer", MaxKeys);
    Use.Keys.resize(MaxKeys);
  }
  for (size_t I = 0; I < Use.Keys.size(); ++I) {
    const layers::Statement &S = *Use.Keys[I].Declared;
    if (llvm::any_of(llvm::ArrayRef(Use.Keys).take_front(I),
                     [&](const ir::LayerKey &K) { return K.Name == S.Name; }))
      Diags.report(S.Range, diag::DuplicateKey, S.Name);
  }
  return Use;
}

static bool isSame(const layers::Expr &A, const layers::Expr &B) {
  return A.Is == B.Is && A.Text == B.Text &&
         llvm::equal(A.Operands, B.Operands, isSame);
}

/// Returns whether \p Key can have the value of \p Old, if that is a word.
static bool canBe(const ir::LayerKey &Key, const ir::LayerKey &Old) {
  const auto *Word = std::get_if<Located<std::string>>(&Old.Value);
  return !Word || Key.words().empty() || !Word->isPresent() ||
         llvm::is_contained(Key.words(), **Word);
}

/// Keeps the values of keys that both kinds have, with the same default.
static void keepValues(const ir::LayerUse &Before, ir::LayerUse &Now) {
  for (ir::LayerKey &Key : Now.Keys)
    if (const ir::LayerKey *Old = Before.findKey(Key.Name))
      if (Old->Value.index() == Key.Value.index() && canBe(Key, *Old) &&
          llvm::equal(Old->Declared->Values, Key.Declared->Values, isSame))
        Key.Value = Old->Value;
}

/// Returns whether another kind of the library has the key in that section.
static bool isOfOther(llvm::StringRef Key, llvm::StringRef Section) {
  return llvm::any_of(shippedLayers(), [&](const layers::Layer &L) {
    return isFor(L, Section) && llvm::is_contained(L.Roles, Section) &&
           llvm::any_of(L.Body, [&](const layers::Statement &S) {
             return S.isKey() && S.Name == Key && !isOfBlock(L, Key);
           });
  });
}

/// Binds the keys of a section; those inherited from a section of another kind
/// have no effect and are left out.
void Binder::bindLayerKeys(const Body &Section, ir::LayerUse &Out) {
  const llvm::StringRef Keyword = Section.Keyword.Text;
  const bool IsNamed = !Section.Label.Text.empty();
  std::vector<llvm::StringRef> Names;
  for (const ir::LayerKey &Key : Out.Keys)
    if (IsNamed || !Key.IsOfBlock)
      Names.push_back(Key.Name);
  for (const Field &F : Section.Fields) {
    const bool IsOwn = F.IsGiven || Section.Range.contains(F.Key.Range);
    ir::LayerKey *Key = Out.findKey(F.Key.Text);
    if (Key && (IsNamed || !Key->IsOfBlock)) {
      if (IsOwn || Key->Declared->Is != layers::Statement::Kind::Same)
        readKey(F, *Key);
    } else if (IsOwn && Out.Is && isFor(*Out.Is, Keyword) &&
               isOfOther(F.Key.Text, Keyword)) {
      Diags.report(F.Key.Range, diag::KeyWithoutEffect, F.Key.Text,
                   "with `" + Keyword + " " + Out.Kind + "`");
    } else if (IsOwn) {
      const bool IsOfSection = Out.Is && Out.Is->hasSections();
      reportUnknownKey(F, Keyword.str() + (IsOfSection ? "" : " " + Out.Kind),
                       Names, Diags);
    }
  }
  for (const Body &Sub : Section.Sections)
    reportSection(Sub.Keyword, Keyword, {}, Diags);
}

void Binder::readKey(const Field &F, ir::LayerKey &Key) {
  std::visit(
      [&](auto &Member) {
        if constexpr (std::is_same_v<decltype(Member), Located<std::string> &>)
          Reader.readWord(F, Key.words(), Member);
        else
          Reader.read(F, Key.type(), Member);
      },
      Key.Value);
}

/// Reports keys without a default that none of the blocks \p Written sets; keys
/// with errors were reported.
void Binder::checkLayerKeys(const ir::LayerUse &Use, llvm::StringRef Section,
                            llvm::ArrayRef<const Body *> Written) {
  std::vector<llvm::StringRef> Names;
  for (const ir::LayerKey &K : Use.Keys)
    Names.push_back(K.Name);
  // Keys that a section of another kind sets are not kept.
  auto IsIn = [&](const Body *In, const ir::LayerKey &K) {
    return In &&
           (K.IsOfBlock || In->Label.Text.empty() ||
            In->Label.Text == Use.Kind) &&
           hasOrMeant(*In, K.Name, K.IsOfBlock ? "block" : Section, Names);
  };
  for (const ir::LayerKey &K : Use.Keys) {
    if (!K.Declared->Values.empty() || K.isPresent() ||
        llvm::any_of(Written, [&](const Body *B) {
          return IsIn(B->findSection(Section), K) ||
                 (K.IsOfBlock && IsIn(B, K));
        }))
      continue;
    const auto Rows = getRequiredKeys();
    const auto *Row = llvm::find_if(
        Rows, [&](const RequiredKey &R) { return R.Name == K.Name; });
    const bool IsInBlock = K.IsOfBlock && Written.back()->Label.Text.size();
    Diags.report(IsInBlock ? Written.back()->Keyword.Range : Use.Range,
                 diag::MissingKey,
                 IsInBlock ? "block" : (Section + " " + Use.Kind).str(), K.Name,
                 Row == Rows.end() ? "16" : Row->Example);
  }
}

/// Lays a section over \p Out, which has the kind of a section without a name.
void Binder::bindLayer(const Body &Section, ir::LayerUse &Out) {
  const llvm::StringRef Keyword = Section.Keyword.Text;
  const layers::Layer *L = Out.Is;
  if (!Section.Label.Text.empty()) {
    L = findLayer(Keyword, Section.Label.Text);
    if (!L)
      Reader.reportSpelling(Section.Label, layerNames(Keyword));
  }
  Out.Range = Section.Keyword.Range;
  if (!L)
    return;
  if (Out.Is != L) {
    ir::LayerUse Now = declare(*L);
    keepValues(Out, Now);
    Now.Range = Out.Range;
    Out = std::move(Now);
  }
  bindLayerKeys(Section, Out);
}

/// Binds keys that are written in a block for its network: experts.
void Binder::bindBlockKeys(const Body &B, ir::BlockSpec &Out) {
  const layers::Layer &L = layerOfRole("block");
  std::vector<llvm::StringRef> Names = keyNames<ir::BlockSpec>();
  std::vector<llvm::StringRef> OfLayer;
  for (const layers::Statement &S : L.Body)
    if (S.isKey() && isOfBlock(L, S.Name)) {
      OfLayer.push_back(S.Name);
      Names.push_back(S.Name);
    }
  for (const Field &F : B.Fields)
    if (!llvm::is_contained(Names, F.Key.Text))
      reportUnknownKey(F, B.Keyword.Text, Names, Diags);
  const bool AreThere = llvm::any_of(OfLayer, [&](llvm::StringRef Key) {
    return hasOrMeant(B, Key, "block", Names);
  });
  if (!AreThere)
    return;
  const Body *Named = B.findSection("ffn");
  const bool IsOther =
      Named && !Named->Label.Text.empty() && Named->Label.Text != L.Name;
  if (IsOther || (Out.Network.Is != &layerOfRole(L.Roles.front()) &&
                  Out.Network.Is != &L)) {
    Diags.report(Out.Network.Range, diag::LayerOfExperts, Out.Network.Kind);
    return;
  }
  ir::LayerUse Now = ir::LayerUse::of(L);
  Now.Range = Out.Network.Range;
  keepValues(Out.Network, Now);
  Out.Network = std::move(Now);
  for (const Field &F : B.Fields)
    if (llvm::is_contained(OfLayer, F.Key.Text))
      readKey(F, *Out.Network.findKey(F.Key.Text));
}
