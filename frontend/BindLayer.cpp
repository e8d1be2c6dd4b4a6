// SPDX-License-Identifier: Apache-2.0
//
// Binds sublayers of kinds that the job defines: `attention gated { ... }`
// where a `layer gated` is declared.
#include "frontend/Bind.h"
#include "lang/DidYouMean.h"
#include "lang/ShippedLayers.h"
#include "lang/diagnostics/Frontend.h"

using namespace foretrace;

void foretrace::addLayer(Job &J, const layers::Layer &L,
                         DiagnosticEngine &Diags) {
  const auto Before = llvm::find_if(J.Layers, [&](const layers::Layer *Other) {
    return Other->Name == L.Name;
  });
  if (Before != J.Layers.end())
    Diags.report(L.Range, diag::LayerTwice, L.Name)
        .note((*Before)->Range, diag::DeclaredHere, L.Name);
  else if (ir::findSpelling<ir::AttentionKind>(L.Name))
    Diags.report(L.Range, diag::LayerTwice, L.Name);
  else
    J.Layers.push_back(&L);
}

/// A layer of the job, or one of the library that jobs can use.
const layers::Layer *Binder::findLayer(const ast::Word &Label) const {
  const auto Found = llvm::find_if(TheJob.Layers, [&](const layers::Layer *L) {
    return L->Name == Label.Text;
  });
  if (Found != TheJob.Layers.end())
    return *Found;
  const layers::Layer *Shipped = findShippedLayer(Label.Text);
  return Shipped && !Shipped->Doc.empty() ? Shipped : nullptr;
}

/// The names of all that findLayer finds.
std::vector<llvm::StringRef> Binder::layerNames() const {
  std::vector<llvm::StringRef> Names;
  for (const layers::Layer *L : TheJob.Layers)
    Names.push_back(L->Name);
  for (const layers::Layer &L : shippedLayers())
    if (!L.Doc.empty())
      Names.push_back(L.Name);
  return Names;
}

/// The key of the job that an expression is, or null.
static const ir::FieldRow *findRow(const layers::Expr &E) {
  const auto *Found =
      llvm::find_if(ir::FieldRows, [&](const ir::FieldRow &Row) {
        return E.Is == layers::Expr::Kind::Name && ir::isAt(Row, E.Text);
      });
  return Found == std::end(ir::FieldRows) ? nullptr : Found;
}

/// Whether \p E is a condition, as far as its form says it.
static bool isCondition(const layers::Expr &E) {
  using Kind = layers::Expr::Kind;
  if (E.Is == Kind::Conditional)
    return isCondition(E.Operands[1]);
  const ir::FieldRow *Row = findRow(E);
  return E.Is == Kind::Not || (E.Is >= Kind::Eq && E.Is <= Kind::Or) ||
         E.Text == "true" || E.Text == "false" || (Row && Row->Type == "Bool");
}

/// A key is of the type of its default; without one it is a count.
static ir::LayerKey declare(const layers::Statement &S,
                            llvm::ArrayRef<ir::LayerKey> Before) {
  static constexpr llvm::StringLiteral Counts[] = {"Int", "Natural"};
  ir::LayerKey Key{S.Name.str(), {}};
  if (S.Values.empty())
    return Key;
  const layers::Expr &Default = S.Values.front();
  for (const ir::LayerKey &Other : Before)
    if (Default.Is == layers::Expr::Kind::Name && Default.Text == Other.Name) {
      if (Other.Value.index() == 1)
        Key.Value.emplace<Located<bool>>();
      if (Other.Value.index() == 2)
        Key.Value.emplace<Located<std::string>>();
      return Key;
    }
  const ir::FieldRow *Row = findRow(Default);
  if (isCondition(Default))
    Key.Value.emplace<Located<bool>>();
  else if (const layers::Expr &Form =
               Default.Is == layers::Expr::Kind::Conditional
                   ? Default.Operands[1]
                   : Default;
           Form.Is == layers::Expr::Kind::String ||
           (Row && !llvm::is_contained(Counts, Row->Type)))
    Key.Value.emplace<Located<std::string>>();
  return Key;
}

static ir::LayerUse declare(const layers::Layer &L, DiagnosticEngine &Diags) {
  constexpr size_t MaxKeys = ir::BlockSpec::MaxLayerKeys / 2;
  ir::LayerUse Use;
  Use.Kind = L.Name.str();
  Use.Is = &L;
  for (const layers::Statement &S : L.Body) {
    if (S.Is != layers::Statement::Kind::Key)
      continue;
    if (Use.Keys.size() == MaxKeys) {
      Diags.report(S.Range, diag::EntryLimit, "the keys of a layer", MaxKeys);
      break;
    }
    if (llvm::any_of(Use.Keys,
                     [&](const ir::LayerKey &K) { return K.Name == S.Name; }))
      Diags.report(S.Range, diag::DuplicateKey, S.Name);
    else
      Use.Keys.push_back(declare(S, Use.Keys));
  }
  return Use;
}

void Binder::bindLayerKeys(const Body &Section, ir::LayerUse &Out) {
  std::vector<llvm::StringRef> Names;
  for (const ir::LayerKey &Key : Out.Keys)
    Names.push_back(Key.Name);
  for (const Field &F : Section.Fields) {
    const auto Key = llvm::find_if(
        Out.Keys, [&](const ir::LayerKey &K) { return K.Name == F.Key.Text; });
    if (Key != Out.Keys.end())
      std::visit(
          [&](auto &Member) {
            constexpr llvm::StringLiteral Types[] = {"Natural", "Bool", "Word"};
            Reader.read(F, Types[Key->Value.index()], Member);
          },
          Key->Value);
    else if (F.IsGiven || Section.Range.contains(F.Key.Range))
      reportUnknownKey(F, Section.Keyword.Text + " " + Out.Kind, Names, Diags);
  }
}

/// Reports keys that have no default and are in none of the blocks \p Written;
/// what is wrong about those that are was reported.
void Binder::checkLayerKeys(const ir::LayerUse &Use, llvm::StringRef Section,
                            llvm::ArrayRef<const Body *> Written) {
  auto IsWritten = [&](llvm::StringRef Key) {
    return llvm::any_of(Written, [&](const Body *B) {
      const Body *In = B->findSection(Section);
      return In && In->findField(Key);
    });
  };
  for (const layers::Statement &S : Use.Is->Body)
    if (S.Is == layers::Statement::Kind::Key && S.Values.empty() &&
        !IsWritten(S.Name))
      Diags.report(Use.Range, diag::MissingKey,
                   (Section + " " + Use.Kind).str(), S.Name, "16");
}

bool Binder::bindLayer(const Body &Section, std::optional<ir::LayerUse> &Out) {
  if (!Section.Label.Text.empty()) {
    const layers::Layer *L = findLayer(Section.Label);
    if (!L) {
      Out.reset();
      return false;
    }
    if (!Out || Out->Is != L)
      Out = declare(*L, Diags);
  }
  if (!Out)
    return false;
  Out->Range = Section.Keyword.Range;
  bindLayerKeys(Section, *Out);
  return true;
}
