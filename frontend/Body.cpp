// SPDX-License-Identifier: Apache-2.0
//
// Decides conditions and merges sections.
#include "frontend/Body.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;

std::string Override::path() const {
  std::string Path;
  if (!Top.Text.empty())
    Path += Top.Text + ".";
  for (const ast::Word &W : Sections)
    Path += W.Text + ".";
  return Path + Key.Key.Text;
}

const Field *Body::findField(llvm::StringRef Key) const {
  auto It =
      llvm::find_if(Fields, [&](const Field &F) { return F.Key.Text == Key; });
  return It == Fields.end() ? nullptr : &*It;
}

const Body *Body::findSection(llvm::StringRef Keyword) const {
  auto It = llvm::find_if(
      Sections, [&](const Body &B) { return B.Keyword.Text == Keyword; });
  return It == Sections.end() ? nullptr : &*It;
}

/// The entries of one section that count, in order.
struct BodyBuilder::Flat {
  std::vector<const ast::Assignment *> Keys;
  std::vector<const ast::Section *> Sections;
  std::vector<const ast::Require *> Requires;
};

void BodyBuilder::flatten(const std::vector<ast::Entry> &Entries, Scope &Names,
                          Flat &Out) {
  for (const ast::Entry &E : Entries) {
    if (const auto *A = std::get_if<ast::Assignment>(&E.Node)) {
      Out.Keys.push_back(A);
    } else if (const auto *S = std::get_if<ast::Section>(&E.Node)) {
      Out.Sections.push_back(S);
    } else if (const auto *R = std::get_if<ast::Require>(&E.Node)) {
      Out.Requires.push_back(R);
    } else if (const auto *L = std::get_if<ast::Let>(&E.Node)) {
      Symbol Let;
      Let.Name = L->Name;
      Let.Definition = L->Value.get();
      Names.add(std::move(Let), Diags);
    } else if (const auto *If = std::get_if<ast::If>(&E.Node)) {
      if (std::optional<bool> C = Eval.evaluateCondition(*If->Condition, Names))
        flatten(*C ? If->Then : If->Else, Names, Out);
    } else {
      Diags.report(E.Range, diag::SweepEntry);
    }
  }
}

/// Returns whether two sections of these words are the same. The label of
/// `attention`, `ffn` and `branch` is a kind of layer; any other label tells a
/// section from its siblings.
static bool isSame(const ast::Word &KeywordA, const ast::Word &LabelA,
                   const ast::Word &KeywordB, const ast::Word &LabelB) {
  return KeywordA.Text == KeywordB.Text &&
         (KeywordA.Text == "attention" || KeywordA.Text == "ffn" ||
          KeywordA.Text == "branch" || LabelA.Text == LabelB.Text);
}

/// Lays one key over \p Into.
static void setField(Body &Into, Field F) {
  for (Field &Old : Into.Fields)
    if (Old.Key.Text == F.Key.Text) {
      Old = std::move(F);
      return;
    }
  Into.Fields.push_back(std::move(F));
}

void BodyBuilder::lay(Body &Into, const Body &Over) {
  if (Into.Keyword.Text.empty())
    Into.Keyword = Over.Keyword;
  for (const Field &F : Over.Fields)
    setField(Into, F);
  llvm::append_range(Into.Sections, Over.Sections);
}

bool BodyBuilder::mergeValue(Body &Into, const ast::Word &Name,
                             const ExprValue &V, SourceRange Use) {
  const auto *T = V.getIf<TableValue>();
  if (!T) {
    Diags.report(Use, diag::WrongType, Name.Text, describe(V), "a table");
    return false;
  }
  merge(Into, *T->Section, NoNames);
  Into.Keyword = Name;
  return true;
}

bool BodyBuilder::mergeTable(Body &Into, const Field &F) {
  std::optional<ExprValue> V = Eval.evaluate(*F.Value, *F.Names);
  return V && mergeValue(Into, F.Key, *V, V->Range);
}

bool BodyBuilder::mergeBase(Body &Into, const ast::Word &Base,
                            const Scope &Names) {
  Symbol *Found = Names.find(Base.Text);
  if (!Found) {
    suggest(Diags.report(Base.Range, diag::UnknownName, Base.Text), Base.Range,
            Base.Text, Names.names());
    return false;
  }
  const std::optional<ExprValue> &V = Eval.evaluate(*Found, Base.Range);
  return V && mergeValue(Into, Base, *V, Base.Range);
}

/// The section of \p In that a path calls \p Name: a block by its own name,
/// any other by its keyword. A table given as a value becomes one.
Body &BodyBuilder::enter(Body &In, const ast::Word &Name) {
  for (Body &Sub : In.Sections)
    if ((Sub.Keyword.Text == "block" ? Sub.Label : Sub.Keyword).Text ==
        Name.Text)
      return Sub;
  Body &Made = In.Sections.emplace_back();
  Made.Keyword = Name;
  if (const Field *F = In.findField(Name.Text)) {
    mergeTable(Made, *F);
    In.Fields.erase(In.Fields.begin() + (F - In.Fields.data()));
  }
  return Made;
}

void BodyBuilder::override(Body &Into, const Override &O) {
  Body *At = &Into;
  for (const ast::Word &Name : O.Sections)
    At = &enter(*At, Name);
  setField(*At, O.Key);
}

void BodyBuilder::check(const ast::Require &R, const Scope &Names) {
  std::optional<bool> Holds = Eval.evaluateCondition(*R.Condition, Names);
  if (!Holds || *Holds)
    return;
  std::string Message = "this requirement is not met";
  if (R.Message) {
    std::optional<ExprValue> Text = Eval.evaluate(*R.Message, Names);
    if (!Text)
      return;
    Message = format(*Text).value_or(Message);
  }
  Diags.report(R.Condition->Range, diag::RequirementFailed, Message);
}

void BodyBuilder::merge(Body &Into, const ast::Section &S, const Scope &Outer) {
  Into.Keyword = S.Keyword;
  if (!S.Label.Text.empty())
    Into.Label = S.Label;
  Into.Range = S.Range;
  Scope &Names = Scopes.emplace_back(&Outer);
  Flat Entries;
  flatten(S.Entries, Names, Entries);
  if (Entries.Keys.size() + Entries.Sections.size() > MaxEntries) {
    Diags.report(S.Keyword.Range, diag::EntryLimit, "`" + S.Keyword.Text + "`",
                 MaxEntries);
    return;
  }

  std::vector<const ast::Assignment *> Seen;
  for (const ast::Assignment *A : Entries.Keys) {
    auto First = llvm::find_if(Seen, [&](const ast::Assignment *B) {
      return B->Key.Text == A->Key.Text;
    });
    if (First != Seen.end()) {
      Diags.report(A->Key.Range, diag::DuplicateKey, A->Key.Text)
          .note((*First)->Key.Range, diag::DeclaredHere, A->Key.Text);
      continue;
    }
    Seen.push_back(A);
    setField(Into, {A->Key, A->Value.get(), &Names});
  }

  for (size_t I = 0; I < Entries.Sections.size(); ++I) {
    const ast::Section &Sub = *Entries.Sections[I];
    auto Earlier = llvm::ArrayRef(Entries.Sections).take_front(I);
    const auto *First = llvm::find_if(Earlier, [&](const ast::Section *B) {
      return isSame(B->Keyword, B->Label, Sub.Keyword, Sub.Label);
    });
    if (First != Earlier.end()) {
      Diags.report(Sub.Keyword.Range, diag::DuplicateSection, Sub.Keyword.Text)
          .note((*First)->Keyword.Range, diag::DeclaredHere, Sub.Keyword.Text);
      continue;
    }
    auto Base = llvm::find_if(Into.Sections, [&](const Body &B) {
      return isSame(B.Keyword, B.Label, Sub.Keyword, Sub.Label);
    });
    merge(Base == Into.Sections.end() ? Into.Sections.emplace_back() : *Base,
          Sub, Names);
  }
  for (const ast::Require *R : Entries.Requires)
    check(*R, Names);
}
