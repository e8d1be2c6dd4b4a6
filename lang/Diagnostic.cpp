// SPDX-License-Identifier: Apache-2.0
#include "lang/Diagnostic.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>

namespace foretrace {

void addInteger(DiagnosticArguments &To, int64_t Value) {
  To.emplace_back(Value);
}

void addUnsigned(DiagnosticArguments &To, uint64_t Value) {
  if (Value <= INT64_MAX)
    addInteger(To, static_cast<int64_t>(Value));
  else
    To.emplace_back(Value);
}

void addReal(DiagnosticArguments &To, double Value) { To.emplace_back(Value); }

void addTruth(DiagnosticArguments &To, bool Value) { To.emplace_back(Value); }

void addText(DiagnosticArguments &To, llvm::StringRef Value) {
  To.emplace_back(Value.str());
}

llvm::StringRef getName(Severity Level) {
  static constexpr llvm::StringRef Names[] = {"error", "warning", "note",
                                              "hint"};
  return Names[static_cast<size_t>(Level)];
}

std::string Diagnostic::text() const {
  std::string Out;
  llvm::raw_string_ostream OS(Out);
  const char *Pattern = getDiagnosticInfo(Id).Text.data();
  for (const llvm::ReplacementItem &Item :
       llvm::formatv_object_base::parseFormatString(Pattern)) {
    if (Item.Type == llvm::ReplacementType::Literal) {
      OS << Item.Spec;
      continue;
    }
    assert(Item.Index < Arguments.size() && "every argument was given");
    std::visit([&](const auto &Value) { OS << llvm::formatv("{0}", Value); },
               Arguments[Item.Index]);
  }
  return Out;
}

size_t numArguments(diag::Id Id) {
  size_t Count = 0;
  for (const llvm::ReplacementItem &Item :
       llvm::formatv_object_base::parseFormatString(
           getDiagnosticInfo(Id).Text.data()))
    if (Item.Type == llvm::ReplacementType::Format)
      Count = std::max(Count, Item.Index + size_t(1));
  return Count;
}

const Diagnostic *DiagnosticEngine::firstError() const {
  const auto It = llvm::find_if(
      All, [](const Diagnostic &D) { return D.Level == Severity::Error; });
  return It == All.end() ? nullptr : &*It;
}

DiagnosticBuilder DiagnosticEngine::add(SourceRange Range, diag::Id Id) {
  const DiagnosticInfo &Info = getDiagnosticInfo(Id);
  Severity Level = Info.Level;
  UsedAllowance |= Allowed.test(Id);
  if (Level == Severity::Warning && (Allowed.test(Id) || Ignored.test(Id))) {
    Dropped = {};
    return DiagnosticBuilder(*this, DiagnosticBuilder::OfDropped);
  }
  if (Level == Severity::Error && Allowed.test(Id))
    Level = Severity::Warning;
  if (Level == Severity::Warning && Refused.test(Id))
    Level = Severity::Error;
  if (++Counts[static_cast<size_t>(Level)] > Limit && Limit != 0) {
    Dropped = {};
    return DiagnosticBuilder(*this, DiagnosticBuilder::OfDropped);
  }
  All.push_back({Id, Level, Range, {}, {}, {}});
  return DiagnosticBuilder(*this, All.size() - 1);
}

void DiagnosticEngine::take(const DiagnosticEngine &Other) {
  for (const Diagnostic &D : Other.All) {
    const bool IsKnown = llvm::any_of(All, [&](const Diagnostic &Old) {
      return Old.Id == D.Id && Old.Range.start() == D.Range.start() &&
             Old.Arguments == D.Arguments;
    });
    if (IsKnown)
      continue;
    ++Counts[static_cast<size_t>(D.Level)];
    All.push_back(D);
  }
}

void DiagnosticEngine::withdraw(llvm::ArrayRef<DiagnosticBuilder> Reported) {
  llvm::SmallVector<size_t> Indices;
  for (const DiagnosticBuilder &B : Reported)
    if (!B.isDropped())
      Indices.push_back(B.Index);
  llvm::sort(Indices, std::greater<>());
  for (size_t Index : Indices) {
    --Counts[static_cast<size_t>(All[Index].Level)];
    All.erase(All.begin() + static_cast<ptrdiff_t>(Index));
  }
}

unsigned DiagnosticEngine::unkept(Severity Level) const {
  return Limit != 0 && count(Level) > Limit ? count(Level) - Limit : 0;
}

Diagnostic &DiagnosticBuilder::find() const {
  return Index == OfDropped ? Engine.Dropped : Engine.All[Index];
}

Diagnostic &DiagnosticBuilder::addValueNote(SourceRange Range) {
  return addNote(Range,
                 Range.isValid() ? diag::ValueFromHere : diag::ValueByDefault);
}

Diagnostic &DiagnosticBuilder::addNote(SourceRange Range, diag::Id Id) {
  find().Notes.push_back({Id, Severity::Note, Range, {}, {}, {}});
  return find().Notes.back();
}

DiagnosticBuilder &DiagnosticBuilder::fix(SourceRange Range,
                                          const llvm::Twine &Replacement) {
  find().FixIts.push_back({Range, Replacement.str()});
  return *this;
}

} // namespace foretrace
