// SPDX-License-Identifier: Apache-2.0
//
// Name lookup.
#include "frontend/Scope.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;

Symbol *Scope::add(Symbol S, DiagnosticEngine &Diags) {
  if (const Symbol *First = findOwn(S.Name.Text)) {
    Diags.report(S.Name.Range, diag::DuplicateName, S.Name.Text)
        .note(First->Name.Range, diag::DeclaredHere, First->Name.Text);
    return nullptr;
  }
  if (!S.Home)
    S.Home = this;
  Symbol &Added = Symbols.emplace_back(std::move(S));
  ByName[Added.Name.Text] = &Added;
  return &Added;
}

void Scope::give(const ast::Word &Name, ExprValue V) {
  Symbol S;
  S.Name = Name;
  S.Home = this;
  S.Is = Symbol::State::Known;
  S.Result = std::move(V);
  Symbols.push_back(std::move(S));
  ByName.try_emplace(Name.Text, &Symbols.back());
}

void Scope::import(const Scope &S) {
  Imports.insert(&S);
  Imports.insert(S.Imports.begin(), S.Imports.end());
}

Symbol *Scope::find(llvm::StringRef Name) const {
  if (Symbol *S = findOwn(Name))
    return S;
  for (const Scope *I : Imports)
    if (Symbol *S = I->findOwn(Name))
      return S;
  return Parent ? Parent->find(Name) : nullptr;
}

void Scope::collect(std::vector<llvm::StringRef> &Names) const {
  for (const Symbol &S : Symbols)
    Names.push_back(S.Name.Text);
  for (const Scope *I : Imports)
    for (const Symbol &S : I->Symbols)
      Names.push_back(S.Name.Text);
  if (Parent)
    Parent->collect(Names);
}

std::vector<llvm::StringRef> Scope::names() const {
  std::vector<llvm::StringRef> Names;
  collect(Names);
  return Names;
}
