// SPDX-License-Identifier: Apache-2.0
//
// Emit blocks to attributes, whose meaning only their backend knows.
#include "frontend/Bind.h"
#include "lang/diagnostics/Frontend.h"

using namespace foretrace;

using ir::Attribute;

static Attribute make(Attribute::Kind K, SourceRange Range,
                      std::string Text = "") {
  Attribute A;
  A.K = K;
  A.Range = Range;
  A.Text = std::move(Text);
  return A;
}

Attribute Binder::toAttribute(const ExprValue &V) {
  using Kind = Attribute::Kind;
  if (const std::string *Text = V.getIf<std::string>()) {
    Attribute A = make(Kind::Text, V.Range, *Text);
    A.PathFrom = V.PathFrom;
    return A;
  }
  if (const auto *W = V.getIf<WordValue>())
    return make(Kind::Name, V.Range, W->Text);
  if (const auto *T = V.getIf<TableValue>()) {
    Body Table;
    Bodies.merge(Table, *T->Section, NoNames);
    return toAttribute(Table);
  }
  Attribute A = make(Kind::Int, V.Range);
  if (V.Dim != Dimension::Count || !V.Prefix.empty())
    A.Measures = getName(V.Dim);
  if (const int64_t *I = V.getIf<int64_t>()) {
    A.Integer = *I;
  } else if (const double *D = V.getIf<double>()) {
    A.K = Kind::Real;
    A.Real = *D;
  } else if (const bool *B = V.getIf<bool>()) {
    A.K = Kind::Bool;
    A.Integer = *B;
  } else {
    // Blocks are named only in `layers`, so no pattern gets here.
    A.K = Kind::List;
    for (const ExprValue &Element : std::get<ListValue>(V.Data).Elements)
      A.Elements.push_back(toAttribute(Element));
  }
  return A;
}

Attribute Binder::toAttribute(const Body &B) {
  Attribute A = make(Attribute::Kind::Section, B.Range, B.Label.Text);
  for (const Field &F : B.Fields)
    if (std::optional<ExprValue> V =
            Eval.evaluate(*F.Value, *F.Names, Words::Any))
      A.Fields.push_back({F.Key.Text, F.Key.Range, toAttribute(*V)});
  for (const Body &Sub : B.Sections)
    A.Fields.push_back({Sub.Keyword.Text, Sub.Keyword.Range, toAttribute(Sub)});
  return A;
}

void Binder::bindEmit(const Job::Declared &E, ir::EmitSpec &Out) {
  Out.Backend = E.Section->Label.Text;
  Out.Range = E.Section->Label.Range;
  if (Out.Backend.empty())
    Diags.report(E.Section->Keyword.Range, diag::MissingLabel, "emit",
                 "the name of a backend");
  Body B;
  Bodies.merge(B, *E.Section, E.Home->Names);
  B.Label = {}; // the backend's name is no option
  Out.Options = toAttribute(B);
}
