// SPDX-License-Identifier: Apache-2.0
//
// The keys of ir/model/Spec.def: how the value of one is read, and what is said
// of one that doesn't exist. Private to the frontend.
#pragma once

#include "frontend/Body.h"
#include "ir/model/SpecFields.h"
#include "ir/model/Spellings.h"
#include "llvm/ADT/ArrayRef.h"

namespace foretrace {

/// `file("...")`, if \p F is that; null otherwise.
const ast::Call *findFileCall(const Field &F);

/// Returns a list of words for a message; of many, the first ones.
std::string joinWords(llvm::ArrayRef<llvm::StringRef> Words);

/// Evaluates the values of keys and checks them against their types.
class KeyReader {
public:
  KeyReader(Evaluator &Eval, DiagnosticEngine &Diags)
      : Eval(Eval), Diags(Diags) {}

  /// Each evaluates \p F and states it in \p Out, or reports. \p Type is the
  /// type's name in ir/model/Spec.def, or `Word` for any word.
  void read(const Field &F, llvm::StringRef Type, Located<int64_t> &Out);
  void read(const Field &F, llvm::StringRef Type, Located<bool> &Out);
  void read(const Field &F, llvm::StringRef Type, Located<std::string> &Out);
  /// Reads one of \p Words, or any word if there are none.
  void readWord(const Field &F, llvm::ArrayRef<llvm::StringRef> Words,
                Located<std::string> &Out);
  /// `file("...")`, too: the binder reads the file.
  void read(const Field &F, llvm::StringRef, Located<ir::ScheduleKind> &Out);
  template <typename EnumT>
  void read(const Field &F, llvm::StringRef, Located<EnumT> &Out) {
    if (std::optional<ast::Word> W = readWord(F, ir::getSpellings<EnumT>()))
      readLabel(*W, Out);
  }

  /// States a word after its section's keyword. \p More are others that it
  /// could be.
  template <typename EnumT>
  void readLabel(const ast::Word &W, Located<EnumT> &Out,
                 llvm::ArrayRef<llvm::StringRef> More = {});
  /// Reports a word that is none of \p Spellings. \p Foreign is its counterpart
  /// here, if other tools use it.
  void reportSpelling(const ast::Word &W,
                      llvm::ArrayRef<llvm::StringRef> Spellings,
                      llvm::StringRef Foreign = "");

  /// Returns whether the value of \p F can differ from layer to layer: it uses
  /// the number of the layer, or is a list.
  bool isOfLayer(const Field &F);

  /// A number that must not be negative; \p Name is what a message calls it.
  std::optional<int64_t> checkNumber(llvm::StringRef Name, llvm::StringRef Type,
                                     const ExprValue &V);

private:
  /// Evaluates \p F; of a list with a value for each layer, that of the layer
  /// being read.
  std::optional<ExprValue> evaluate(const Field &F, Words W = Words::Spellings);
  std::optional<ast::Word> readWord(const Field &F,
                                    llvm::ArrayRef<llvm::StringRef> Spellings);
  void warnOfDecimal(llvm::StringRef Name, const ExprValue &V, int64_t Is);

  Evaluator &Eval;
  DiagnosticEngine &Diags;
};

template <typename EnumT>
void KeyReader::readLabel(const ast::Word &W, Located<EnumT> &Out,
                          llvm::ArrayRef<llvm::StringRef> More) {
  if (std::optional<EnumT> E = ir::findSpelling<EnumT>(W.Text))
    return Out.state(*E, W.Range);
  std::vector<llvm::StringRef> All = ir::getSpellings<EnumT>();
  All.insert(All.end(), More.begin(), More.end());
  reportSpelling(W, All, ir::findForeign<EnumT>(W.Text));
}

/// Returns whether \p B has the key, or a misspelling that was reported.
/// \p Names are the keys its section has.
bool hasOrMeant(const Body &B, llvm::StringRef Key, llvm::StringRef Section,
                llvm::ArrayRef<llvm::StringRef> Names);

/// Reports a key or section of other tools that is not modelled, and the effect
/// of that; false if it is none.
bool reportUnmodelled(const ast::Word &Key, DiagnosticEngine &Diags);

/// Reports the key \p K that \p Section doesn't have, with the best guess at
/// what was meant. \p Names are the keys it has; \p All is the place of the key
/// with its value.
void reportUnknownKey(const ast::Word &K, SourceRange All,
                      llvm::StringRef Section,
                      llvm::ArrayRef<llvm::StringRef> Names,
                      DiagnosticEngine &Diags);
inline void reportUnknownKey(const Field &F, llvm::StringRef Section,
                             llvm::ArrayRef<llvm::StringRef> Names,
                             DiagnosticEngine &Diags) {
  SourceRange All = F.Key.Range;
  All.End = F.Value->Range.End;
  reportUnknownKey(F.Key, All, Section, Names, Diags);
}

} // namespace foretrace
