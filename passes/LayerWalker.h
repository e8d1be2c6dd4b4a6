// SPDX-License-Identifier: Apache-2.0
//
// Goes through the text of a layer (lang/Layers.h) as a block uses it: names,
// keys, conditions and calls. Private to the passes.
#pragma once

#include "ir/model/Measure.h"
#include "ir/model/SpecFields.h"
#include "lang/Diagnostic.h"
#include "lang/Layers.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/SaveAndRestore.h"

namespace foretrace {

/// Returns the layer that a statement calls: in the text of a job, one of the
/// job, or else one of the library. Null if there is none.
const layers::Layer *findCalled(const ir::Spec &S,
                                const layers::Statement &Call);

/// Walks the text once, with hooks for statements that make something. Errors
/// in the job's text are reported where they are, those in the library's at the
/// call in the job.
class LayerWalker {
public:
  static constexpr unsigned MaxDepth = 32; ///< of calls
  /// Walks a layer whose keys are those of \p Of; null for one without keys,
  /// which is no part of a block.
  LayerWalker(ir::Program &P, const ir::LayerUse *Of, DiagnosticEngine &Diags)
      : P(P), Of(Of), Diags(Diags), Caller(Of ? Of->Range : SourceRange()) {}
  virtual ~LayerWalker() = default;

  /// Returns whether nothing was reported.
  bool isGood() const { return !HasFailed; }
  /// Sets the part of the model that parameters are counted in if the text sets
  /// none.
  void setPart(llvm::StringRef Name) { Part = Name; }

protected:
  using Node = layers::Expr;
  struct Frame;
  /// An expression and where its names are looked up.
  struct Lazy {
    const Node *Is;
    Frame *In;
  };
  /// One use of a layer.
  struct Frame {
    std::string Path;                     ///< of its modules
    llvm::StringMap<ir::ValueId> Tensors; ///< an invalid one is `none`
    llvm::StringMap<Lazy> Keys;           ///< and what `let` names
    llvm::StringRef Part;                 ///< of the model
    llvm::StringRef Weights;              ///< shared by layers under this name
    /// Modules with a tensor until which they are recomputed.
    llvm::SmallVector<std::pair<ir::ModuleId, const layers::Statement *>, 1>
        Modules;
    bool IsOutermost = false; ///< then keys are those of the use
    unsigned Depth = 0;
  };
  using Scalar = std::variant<int64_t, bool, std::string>;

  /// Walks \p L; returns its outputs.
  llvm::SmallVector<ir::ValueId, 1> walk(const layers::Layer &L,
                                         llvm::ArrayRef<ir::ValueId> Inputs);

  virtual void addSource(const layers::Statement &S, Frame &F) = 0;
  virtual void addOp(const layers::Statement &S, Frame &F) = 0;
  /// Returns whether the job has an error, so that only its other requirements
  /// are checked, and no tensors exist.
  virtual bool isStopped() const { return false; }
  virtual void setOrigin(const layers::Statement &, Frame &) {}
  virtual void enterModule(const layers::Statement &, Frame &) {}
  virtual void leaveModule() {}
  /// Called when all tensors of a use exist.
  virtual void endUse(Frame &) {}
  virtual void require(const layers::Statement &, Frame &) {}
  /// The number of units of a dimension.
  virtual std::optional<ir::Expr> unitsOf(const Node &, Frame &) {
    return std::nullopt;
  }
  /// Called for the experts of a token if ranks get one copy for all of them.
  virtual void noteCopies(const ir::TokenChoice &) {}
  /// The value of a comparison of numbers, on which the ops of the layer
  /// depend.
  virtual int64_t decide(ir::Expr Comparison) { return Comparison.value(); }

  /// Returns what a name means: follows keys that calls give, and `let`, to a
  /// key of the job or to another expression.
  Lazy resolve(const Node &E, Frame &F);
  /// Returns the value of an expression for this job.
  Scalar scalar(const Node &E, Frame &F);
  bool holds(const Node &E, Frame &F);
  /// Return the value of an expression as an expression of keys.
  ir::Expr number(const Node &E, Frame &F);
  ir::Expr partsOfToken(const Node &E, Frame &F);
  /// Returns the comparison of numbers in \p E, 1 if it holds; nothing if it is
  /// none.
  std::optional<ir::Expr> comparison(const Node &E, Frame &F);
  /// Returns the tensor that a name means, or `none`.
  ir::ValueId tensor(const Node &E, Frame &F) {
    return tensor(E.Text, E.Range, F);
  }
  ir::ValueId tensor(llvm::StringRef Name, SourceRange At, Frame &F);
  /// Returns whether the statement is of the library's text.
  static bool isOfLibrary(const layers::Statement &S) {
    return !S.Range.isValid();
  }
  /// The innermost statement of the job's text, or the section that uses it.
  SourceRange caller() const { return Caller; }
  /// Calls \p Visit with the member of the spec that \p Name is, if there is
  /// one: a key of the layer, or `train.dropout`.
  template <typename VisitT>
  bool visitKey(llvm::StringRef Name, Frame &F, VisitT Visit);
  /// Calls \p Visit with the key that \p E names, which may be that of a layer
  /// that calls this one.
  template <typename VisitT>
  bool visitKeyAt(const Node &E, Frame &F, VisitT Visit);

  /// Returns whether something was reported, such as that \p E exceeds the
  /// limit of steps or of nested names; the walk ends then.
  bool isBeyondLimits(const Node &E);
  /// Counts names within names as long as it lives.
  llvm::SaveAndRestore<unsigned> nest() { return {Nesting, Nesting + 1}; }
  /// `linear_fc1.weight` for `weight` in the module `linear_fc1`.
  static std::string nameIn(llvm::StringRef Path, llvm::StringRef Name) {
    return (Path + (Path.empty() || Name.empty() ? "" : ".") + Name).str();
  }
  /// Reports an error in the text at \p At.
  void fail(SourceRange At, const llvm::Twine &What);

  ir::Program &P;
  const ir::LayerUse *Of;
  DiagnosticEngine &Diags;

private:
  void run(llvm::ArrayRef<layers::Statement> Body, Frame &F);
  void run(const layers::Statement &S, Frame &F);
  void call(const layers::Statement &S, Frame &F);
  void checkGiven(const layers::Statement &Key, Frame &F);
  bool give(const layers::Layer &L, const layers::Argument &A, Frame &From,
            Frame &To);
  bool isNumber(const Node &E, Frame &F);
  std::optional<bool> aboutTensor(const Node &E, Frame &F);
  Scalar scalarOf(const Node &E, Frame &F);
  bool compares(const Node &E, Frame &F);
  ir::Expr numberOf(const Node &E, Frame &F);
  int64_t valueOf(const Node &E, Frame &F);
  bool isWord(llvm::StringRef Word) const;
  std::optional<bool> aboutKey(const Node &E, Frame &F);

  bool HasFailed = false;
  llvm::StringRef Part;
  SourceRange Caller;
  unsigned Steps = 0;   ///< statements and expressions so far
  unsigned Nesting = 0; ///< names within names
};

template <typename VisitT>
bool LayerWalker::visitKey(llvm::StringRef Name, Frame &F, VisitT Visit) {
  bool IsFound = false;
  const auto [Section, Key] = Name.split('.');
  auto VisitRow = [&, Last = Key.empty() ? Name : Key](const ir::FieldRow &Row,
                                                       auto &Member) {
    if (IsFound || Row.Name != Last)
      return;
    IsFound = true;
    Visit(Member);
  };
  if (Section == "model" && !Key.empty())
    ir::visitFields(P.Spec.Model, VisitRow);
  else if (Section == "train" && !Key.empty())
    ir::visitFields(P.Spec.Train, VisitRow);
  else if (Section == "parallel" && !Key.empty())
    ir::visitFields(P.Spec.Parallel, VisitRow);
  else if (Section == "serve" && !Key.empty()) {
    static const ir::ServeSpec Absent; // without values, in training
    ir::visitFields(P.Spec.Serve ? *P.Spec.Serve : Absent, VisitRow);
  } else if (F.IsOutermost && Of)
    ir::visitKeys(*Of, "", 0, VisitRow);
  return IsFound;
}

template <typename VisitT>
bool LayerWalker::visitKeyAt(const Node &E, Frame &F, VisitT Visit) {
  const Lazy At = resolve(E, F);
  return At.Is->Is == Node::Kind::Name && visitKey(At.Is->Text, *At.In, Visit);
}

} // namespace foretrace
