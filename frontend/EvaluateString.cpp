// SPDX-License-Identifier: Apache-2.0
//
// Strings with names in braces.
#include "frontend/Evaluate.h"
#include "ir/model/SpecFields.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;

/// Returns whether strings can name this key once it is stated.
static bool isJobKey(llvm::StringRef Word) {
  return llvm::any_of(ir::FieldRows, [&](const ir::FieldRow &Row) {
    return Row.Name == Word &&
           (Row.Section == "Train" || Row.Section == "Parallel");
  });
}

/// Returns the range of \p Text in the source of the current expression, or the
/// whole range (escapes may hide it).
SourceRange Evaluator::find(llvm::StringRef Text) const {
  const SourceRange Whole = Current->Range;
  const size_t At = source(Whole).find(Text);
  if (At == llvm::StringRef::npos)
    return Whole;
  const auto Begin = static_cast<uint32_t>(Whole.Begin + At);
  return {Whole.File, Begin, static_cast<uint32_t>(Begin + Text.size())};
}

/// Returns the value of `{Name}`: a param, let or table entry, else a key of
/// the job.
std::optional<std::string> Evaluator::interpolate(llvm::StringRef Name,
                                                  SourceRange Place) {
  llvm::SmallVector<llvm::StringRef> Parts;
  Name.split(Parts, '.');
  std::vector<ast::Word> Path;
  for (llvm::StringRef Part : Parts)
    Path.push_back({Part.trim().str(), Place});
  if (Names->find(Path.front().Text)) {
    Result V = lookUp(Path, Words::Spellings);
    if (!V)
      return std::nullopt;
    if (std::optional<std::string> Text = format(*V))
      return Text;
    Diags.report(Place, diag::TypeMismatch, "{" + Name.str() + "}",
                 "a number or a word", describe(*V));
    return std::nullopt;
  }
  if (auto Key = JobKeys.find(Path.front().Text);
      Key != JobKeys.end() && Path.size() == 1)
    return Key->second;
  if (isJobKey(Name)) {
    Diags.report(Place, diag::NotYetKnown, Name);
    return std::nullopt;
  }
  std::vector<llvm::StringRef> Known = Names->names();
  for (const auto &Key : JobKeys)
    Known.push_back(Key.first());
  llvm::sort(Known); // the map has no order
  suggest(Diags.report(Place, diag::UnknownName, Path.front().Text), Place,
          Path.front().Text, Known);
  return std::nullopt;
}

/// Returns whether \p Text, put into a path, chooses a folder.
static bool isOfPath(llvm::StringRef Text) {
  return Text.contains('/') || Text == "..";
}

/// Returns whether the part of \p Path around \p Begin, where a value begins,
/// is `..`.
static bool goesUpAt(llvm::StringRef Path, size_t Begin) {
  const size_t Part = Path.take_front(Begin).rfind('/') + 1; // from 0 if none
  return Path.drop_front(Part).split('/').first == "..";
}

Evaluator::Result Evaluator::visit(const ast::String &Text) {
  std::string Out;
  bool Ok = true;
  SourceRange PathFrom;
  llvm::SmallVector<std::pair<size_t, SourceRange>, 4>
      Values; ///< where each is
  llvm::StringRef Rest = Text.Value;
  while (!Rest.empty()) {
    size_t Brace = Rest.find_first_of("{}");
    Out += Rest.take_front(Brace);
    Rest = Rest.substr(Brace);
    if (Rest.empty())
      break;
    if (Rest.size() > 1 && Rest[1] == Rest[0]) { // {{ and }} are escapes
      Out += Rest[0];
      Rest = Rest.drop_front(2);
      continue;
    }
    size_t Close = Rest.find('}');
    if (Rest[0] == '}' || Close == llvm::StringRef::npos) {
      SourceRange Place = find(Rest);
      Place.End = Place.Begin + 1;
      Diags.report(Place, diag::UnmatchedBrace, Rest.take_front(1),
                   Rest[0] == '{' ? "{{" : "}}");
      return std::nullopt;
    }
    llvm::StringRef Name = Rest.slice(1, Close);
    SourceRange Place = find(Rest.take_front(Close + 1));
    if (Place.start() != Current->Range.start())
      Place = {Place.File, Place.Begin + 1, Place.End - 1};
    std::optional<std::string> Replacement = interpolate(Name, Place);
    Ok &= Replacement.has_value();
    if (Replacement && !PathFrom.isValid() && isOfPath(*Replacement))
      PathFrom = Place;
    if (Replacement && !Replacement->empty())
      Values.push_back({Out.size(), Place});
    Out += Replacement.value_or("");
    Rest = Rest.substr(Close + 1);
  }
  if (!Ok)
    return std::nullopt;
  for (const auto &[Begin, Place] : Values)
    if (!PathFrom.isValid() && goesUpAt(Out, Begin))
      PathFrom = Place;
  return ExprValue{
      std::move(Out), Dimension::Count, Current->Range, {}, PathFrom};
}
