// SPDX-License-Identifier: Apache-2.0
//
// Binds training, parallelism and costs; the model is bound in BindModel.cpp,
// emit blocks in BindEmit.cpp.
#include "frontend/Bind.h"
#include "lang/DidYouMean.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace foretrace;

void foretrace::reportSection(const ast::Word &Keyword, llvm::StringRef Parent,
                              llvm::ArrayRef<llvm::StringRef> Sections,
                              DiagnosticEngine &Diags) {
  static constexpr llvm::StringRef Known[] = {
      "model",    "attention", "block", "ffn",    "train",
      "parallel", "cost",      "times", "device", "emit"};
  if (llvm::is_contained(Known, Keyword.Text))
    Diags.report(Keyword.Range, diag::MisplacedSection, Keyword.Text, Parent);
  else
    suggest(Diags.report(Keyword.Range, diag::UnknownSection, Keyword.Text),
            Keyword.Range, Keyword.Text, Sections);
}

void Binder::bindLayout(const Field &F, ir::ParallelSpec &P) {
  std::optional<Value> V = Eval.evaluate(*F.Value, *F.Names);
  if (!V)
    return;
  const auto *L = V->getIf<ListValue>();
  if (!L) {
    Diags.report(V->Range, diag::WrongType, "layout", describe(*V),
                 "a list of layer counts");
    return;
  }
  P.LayoutRange = F.Value->Range;
  for (const Value &Element : L->Elements)
    if (std::optional<int64_t> N =
            Reader.checkNumber("a layer count", "Natural", Element))
      P.Layout.emplace_back().state(*N, Element.Range);
}

bool Binder::findTable(const Body &B, llvm::StringRef Name, Body &Out) {
  if (const Body *Sub = B.findSection(Name)) {
    Out = *Sub;
    return true;
  }
  const Field *F = B.findField(Name);
  if (!F)
    return false;
  std::optional<Value> V = Eval.evaluate(*F->Value, *F->Names);
  if (!V)
    return false;
  const auto *T = V->getIf<TableValue>();
  if (!T) {
    Diags.report(V->Range, diag::WrongType, Name, describe(*V), "a table");
    return false;
  }
  Bodies.merge(Out, *T->Section, NoNames);
  Out.Keyword = F->Key;
  return true;
}

void Binder::bindTimes(const Body &Times, ir::CostSpec &C) {
  for (const Field &F : Times.Fields) {
    std::optional<Value> V = Eval.evaluate(*F.Value, *F.Names);
    if (!V)
      continue;
    llvm::StringRef Name = F.Key.Text;
    if (!V->isNumber()) {
      Diags.report(V->Range, diag::WrongType, Name, describe(*V), "a time");
      continue;
    }
    if (V->Dim != Dimension::Time && V->Dim != Dimension::Count) {
      Diags.report(V->Range, diag::WrongUnit, Name, describe(*V), "a time");
      continue;
    }
    // A plain number is in microseconds, as AIOB writes them; a unit made
    // nanoseconds of it.
    double Microseconds =
        V->Dim == Dimension::Time ? V->asReal() / 1000 : V->asReal();
    if (!std::isfinite(Microseconds) || std::signbit(Microseconds)) {
      Diags.report(V->Range, diag::IsNegative, Name, *format(*V));
      continue;
    }
    if (Microseconds > ir::ProfileTime::MaxMicroseconds) {
      Diags.report(V->Range, diag::TimeTooLong, Name,
                   ir::ProfileTime::MaxSeconds);
      continue;
    }
    C.Profile.push_back({F.Key.Text, Microseconds, F.Key.Range});
  }
  for (const Body &Sub : Times.Sections)
    reportSection(Sub.Keyword, "times", {}, Diags);
}

void Binder::bindCost(ir::CostSpec &C) {
  const Body &B = TheJob.Cost;
  if (!B.Range.isValid() && B.Fields.empty())
    return;
  if (B.Label.Text.empty())
    Diags.report(B.Keyword.Range, diag::MissingLabel, "cost",
                 "one of " +
                     llvm::join(ir::getSpellings<ir::CostKind>(), ", "));
  else
    Reader.readLabel(B.Label, C.Kind);
  bindKeys(B, C, {"times", "device"}, {"times", "device"});

  Body Table;
  bool Ok = !Diags.hasErrors();
  if (findTable(B, "times", Table))
    bindTimes(Table, C);
  else if (Ok && C.Kind.isPresent() && *C.Kind == ir::CostKind::Profile)
    Diags.report(B.Label.Range, diag::MissingKey, "cost profile", "times",
                 "h100.times");
  Body Device;
  if (findTable(B, "device", Device)) {
    bindKeys(Device, C.Device);
    requireKeys(Device.Keyword, C.Device, {&Device});
  } else if (Ok && C.Kind.isPresent() && *C.Kind == ir::CostKind::Roofline) {
    Diags.report(B.Label.Range, diag::MissingKey, "cost roofline", "device",
                 "h100.device");
  }
}

ir::Spec Binder::bind() {
  ir::Spec S;
  const Body &Train = TheJob.Train, &Parallel = TheJob.Parallel;
  if (Train.Keyword.Text.empty()) {
    reportMissing(diag::MissingSection, "train",
                  "train { sequence = 4096  micro_batch = 1 }");
  } else {
    bindKeys(Train, S.Train, {"model"});
    requireKeys(Train.Keyword, S.Train, {&Train});
  }
  if (Parallel.Keyword.Text.empty()) {
    reportMissing(diag::MissingSection, "parallel", "parallel { world = 8 }");
  } else {
    bindKeys(Parallel, S.Parallel, {"layout"});
    if (const Field *F = Parallel.findField("layout"))
      bindLayout(*F, S.Parallel);
    requireKeys(Parallel.Keyword, S.Parallel, {&Parallel});
  }
  bindCost(S.Cost);
  bindModel(S.Model);
  applyDefaults(S);

  publishKeys(S.Train);
  publishKeys(S.Parallel);
  Eval.setJobKey("model", S.Model.Name);
  for (const Job::Declared &E : TheJob.Emits)
    bindEmit(E, S.Emits.emplace_back());
  return S;
}
