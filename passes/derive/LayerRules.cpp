// SPDX-License-Identifier: Apache-2.0
//
// Defaults of the keys of a layer, and its requirements.
#include "passes/derive/LayerRules.h"
#include "ir/model/Spellings.h"
#include "lang/diagnostics/Lang.h"
#include "lang/diagnostics/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns where a key is set; the section of the layer for its name, and for a
/// key that is set nowhere.
SourceRange Deriver::LayerRules::placeOf(const Node &E, Frame &F) {
  SourceRange At;
  visitKeyAt(E, F, [&](const auto &Key) { At = Key.Range; });
  return At.isValid() ? At : Use.Range;
}

void Deriver::LayerRules::setDefault(LayerKey &Key, Frame &F) {
  const Node &Default = Key.Declared->Values.front();
  std::visit(
      [&](auto &Field) {
        using T = std::decay_t<decltype(*Field)>;
        if constexpr (std::is_same_v<T, int64_t>) {
          const Located<int64_t> *From = blamed(Default, F);
          if (Default.Is == Node::Kind::Number &&
              Key.Declared->Is != layers::Statement::Kind::Same)
            Field.setDefault(std::get<int64_t>(scalar(Default, F)));
          else
            D.define(Field, number(Default, F),
                     From && From->Range.isValid() ? From->Range : Use.Range,
                     Key.Name);
        } else {
          const Scalar Is = scalar(Default, F);
          const auto *Value = std::get_if<T>(&Is);
          if (!Value)
            return fail(Default.Range, "the default of `" + Key.Name +
                                           "` is of another type than the key");
          if (!visitKeyAt(Default, F, [&](const auto &From) {
                Field.derive(*Value, From.Range);
              }))
            Field.setDefault(*Value);
        }
      },
      Key.Value);
}

/// A key that a job states and that has one value only.
void Deriver::LayerRules::setOnly(LayerKey &Key, Frame &F) {
  const Node &Value = Key.Declared->Values.front();
  auto *Field = std::get_if<Located<int64_t>>(&Key.Value);
  if (!Field) {
    const Scalar Is = scalar(Value, F);
    std::visit(
        [&](const auto &Word) {
          const auto *Only = std::get_if<std::decay_t<decltype(*Word)>>(&Is);
          if (isGood() && Only && *Word != *Only)
            D.error(Word.Range, diag::LayerKeyMismatch, Key.Name, spell(*Word),
                    Use.Kind, spell(*Only));
        },
        Key.Value);
    return;
  }
  const Expr Is = number(Value, F);
  const Located<int64_t> *From = blamed(Value, F);
  if (!isGood())
    return;
  if (Is.hasValue() &&
      !D.isStated(*Field, Is, diag::LayerKeyMismatch, From ? *From : *Field))
    D.error(Field->Range, diag::LayerKeyMismatch, Key.Name, **Field, Use.Kind,
            Is.value());
  D.define(*Field, Is, Field->Range, Key.Name);
}

/// Reports a default that the key cannot have.
void Deriver::LayerRules::checkDefault(const LayerKey &Key) {
  const Node &Default = Key.Declared->Values.front();
  const auto *Word = std::get_if<Located<std::string>>(&Key.Value);
  const bool IsZero = Default.Is == Node::Kind::Number && Default.Text == "0";
  if ((Word && !Key.words().empty() && isGood() &&
       !llvm::is_contained(Key.words(), **Word)) ||
      (Key.Declared->Can.ArePositive && IsZero))
    fail(Default.Range, "`" + Key.Name + "` cannot be `" + Default.Text + "`");
}

void Deriver::LayerRules::setDefaults() {
  Frame F;
  F.IsOutermost = true;
  for (LayerKey &Key : Use.Keys) {
    if (!isGood() || Key.Declared->Values.empty())
      continue;
    if (!Key.isPresent()) {
      setDefault(Key, F);
      checkDefault(Key);
    } else if (Key.Declared->Is == layers::Statement::Kind::Same)
      setOnly(Key, F);
  }
}

/// The first number of the layer in \p E that the job states, or else the first
/// of another section, or else the last of all.
const Located<int64_t> *Deriver::LayerRules::blamed(const Node &E, Frame &F) {
  const Located<int64_t> *Found = nullptr;
  const auto Deeper = nest();
  if (isBeyondLimits(E))
    return nullptr;
  const Lazy At = resolve(E, F);
  // A job that trains has no numbers of an engine.
  const bool IsAbsent = !P.Spec.Serve && At.Is->Text.starts_with("serve.");
  visitKeyAt(E, F, [&](const auto &Member) {
    if constexpr (std::is_same_v<std::decay_t<decltype(Member)>,
                                 Located<int64_t>>)
      Found = IsAbsent ? nullptr : &Member;
  });
  auto IsOfLayer = [&](const Located<int64_t> *Number) {
    return llvm::any_of(Use.Keys, [&](const LayerKey &K) {
      return std::get_if<Located<int64_t>>(&K.Value) == Number;
    });
  };
  auto Rank = [&](const Located<int64_t> *Number) {
    return !Number                    ? 0
           : !Number->Range.isValid() ? 1
           : IsOfLayer(Number)        ? 3
                                      : 2;
  };
  for (const Node &Operand : At.Is->Operands)
    if (const Located<int64_t> *Other = blamed(Operand, *At.In);
        Rank(Other) > Rank(Found) || (Other && Rank(Found) == 1))
      Found = Other;
  return Found;
}

/// The number whose value is held to the requirement \p S.
const Located<int64_t> *Deriver::LayerRules::blamed(const layers::Statement &S,
                                                    Frame &F) {
  for (const Node &At : S.Values.drop_front())
    if (const Located<int64_t> *Found = blamed(At, F))
      return Found;
  return blamed(S.Values.front(), F);
}

bool Deriver::LayerRules::meets(const Node &E, Frame &F, diag::Id Id,
                                const Located<int64_t> &Blamed) {
  if (E.Is == Node::Kind::And)
    return meets(E.Operands[0], F, Id, Blamed) &&
           meets(E.Operands[1], F, Id, Blamed);
  if (E.Is == Node::Kind::Or)
    return holds(E.Operands[0], F) || meets(E.Operands[1], F, Id, Blamed);
  if (const std::optional<Expr> Of = comparison(E, F))
    return D.holds(*Of, Id, Blamed);
  return holds(E, F);
}

/// `{heads}` is the value of the key.
std::string Deriver::LayerRules::message(const layers::Statement &S, Frame &F) {
  llvm::StringRef Text = S.Doc;
  std::string Out;
  while (!Text.empty()) {
    const auto [Before, Rest] = Text.split('{');
    Out += Before;
    const auto [Name, After] = Rest.split('}');
    Text = After;
    if (Name.empty())
      continue;
    const Scalar Is = scalar({Node::Kind::Name, Name, {}, S.Range}, F);
    Out += std::visit([](const auto &V) { return spell(V); }, Is);
  }
  return Out;
}

/// Returns the key of the layer that a name means, or null.
LayerKey *Deriver::LayerRules::ownKey(const Node &E, Frame &F) {
  const Lazy At = resolve(E, F);
  const bool IsOwn = At.Is->Is == Node::Kind::Name && At.In->IsOutermost;
  return IsOwn ? Use.findKey(At.Is->Text) : nullptr;
}

/// Notes with which words the requirement is met, if a word is to blame.
void Deriver::LayerRules::noteOtherWords(DiagnosticBuilder &B,
                                         const layers::Statement &S, Frame &F) {
  LayerKey *Key = S.Values.size() > 1 ? ownKey(S.Values[1], F) : nullptr;
  if (!Key || Key->words().empty())
    return;
  auto &Word = std::get<Located<std::string>>(Key->Value);
  const std::string Given = *Word;
  llvm::SmallVector<llvm::StringRef> Legal;
  for (const llvm::StringRef Other : Key->words()) {
    Word.Value = Other.str();
    if (holds(S.Values.front(), F))
      Legal.push_back(Other);
  }
  Word.Value = Given;
  if (!Legal.empty())
    B.note(Word.Range, diag::NearestLegal, Key->Name,
           llvm::join(Legal, " or "));
}

/// Reports a requirement that is not met.
void Deriver::LayerRules::refuse(const layers::Statement &S, diag::Id Id,
                                 SourceRange At, Frame &F) {
  if (S.Name.empty()) {
    const std::string Needs = S.Doc.empty() ? "a condition" : message(S, F);
    if (isGood())
      D.error(At, Id, Use.Kind, Needs)
          .note(isOfLibrary(S) ? caller() : S.Range, diag::RequiredHere);
    return;
  }
  DiagnosticArguments Arguments;
  for (const layers::Argument &A : S.Arguments)
    std::visit([&](const auto &V) { addArgument(Arguments, V); },
               scalar(A.Value, F));
  if (!isGood())
    return;
  DiagnosticBuilder B = D.error(At, Id, Arguments);
  for (size_t I = 2; I < S.Values.size(); ++I)
    visitKeyAt(S.Values[I], F, [&](const auto &Key) {
      const auto [Section, Name] = S.Values[I].Text.rsplit('.');
      const llvm::StringRef Of = Name.empty() ? Section : Name;
      if constexpr (std::is_enum_v<std::decay_t<decltype(*Key)>>) {
        Located<std::string> Word;
        Word.state(getSpelling(*Key).str(), Key.Range);
        B.noteValue(Of, Word);
      } else {
        B.noteValue(Of, Key);
      }
    });
  noteOtherWords(B, S, F);
  if (!S.Doc.empty())
    B.note({}, diag::RefusedBy, "Megatron-LM", S.Doc);
}

void Deriver::LayerRules::require(const layers::Statement &S, Frame &F) {
  const std::optional<diag::Id> Id = S.Name.empty()
                                         ? diag::Id(diag::LayerRequirement)
                                         : findDiagnostic(S.Name);
  const Severity Level =
      Id ? getDiagnosticInfo(*Id).Level : Severity::Note; // for none
  if (Level != Severity::Error && Level != Severity::Warning)
    return fail(S.Range, "no error or warning `" + S.Name + "`");
  if (!S.Name.empty() && S.Arguments.size() != numArguments(*Id))
    return fail(S.Range, "the message of `" + S.Name + "` has " +
                             llvm::Twine(numArguments(*Id)) + " arguments");
  for (const Node &At : llvm::drop_begin(S.Values))
    if (!visitKeyAt(At, F, [](const auto &) {}) && !F.Keys.contains(At.Text) &&
        At.Text != Use.Kind)
      return fail(At.Range, "no key `" + At.Text + "`");
  const Node &Condition = S.Values.front();
  // A job with a warning is a legal one.
  const bool IsWarning = Level == Severity::Warning;
  const Located<int64_t> *Blamed = IsWarning ? nullptr : blamed(S, F);
  if (!isGood() ||
      (Blamed ? meets(Condition, F, *Id, *Blamed) : holds(Condition, F)) ||
      !isGood())
    return;
  const SourceRange At = S.Values.size() > 1 ? placeOf(S.Values[1], F)
                         : Blamed && Blamed->Range.isValid() ? Blamed->Range
                                                             : Use.Range;
  // A warning does not hide an error at the same place.
  if (IsWarning ? !Refused.count(At.start())
                : Refused.insert(At.start()).second)
    refuse(S, *Id, At, F);
}
