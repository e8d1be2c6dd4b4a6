// SPDX-License-Identifier: Apache-2.0
//
// The class behind readPython: ReadPython.cpp has functions and statements,
// PythonExpressions.cpp expressions.
#pragma once

#include "tools/importers/readers/ReadPython.h"
#include "llvm/ADT/StringMap.h"

namespace foretrace::importers {

enum class PythonKind : unsigned char {
  Name,
  Number,
  Text,
  Sign,
  NewLine,
  End
};

struct PythonToken {
  PythonKind Is = PythonKind::End;
  llvm::StringRef Spelling; ///< of a text, what is between the quotes
  size_t Begin = 0, End = 0;
  size_t Column = 0; ///< of the first token of a line
};

/// Splits a file into tokens, of which the last two are the end of a line and
/// that of the file. There are no ends of lines between brackets.
std::vector<PythonToken> splitPython(llvm::StringRef All);

/// Expressions, and functions that call others, may nest this deep.
inline constexpr unsigned MaxPythonDepth = 50;

/// Evaluates the statements of functions, as far as they are simple.
class PythonReader {
public:
  explicit PythonReader(SourceText Text)
      : Source(Text), Tokens(splitPython(Text.str())) {}
  std::vector<PythonFunction> run();
  /// Reads a text that is one expression, without variables. Missing otherwise.
  ForeignValue expression();

private:
  using Variables = llvm::StringMap<ForeignValue>;

  struct Function {
    ast::Word Name;
    std::string Parameter; ///< the first; empty if there is none
    size_t Body;           ///< its first token
    bool IsRead = false, IsChanging = false;
    ForeignValue Returned = {};
    std::vector<SourceRange> Skipped = {};
  };

  ForeignValue call(size_t Function);
  void change(Function &F, ForeignValue &Argument);
  bool callsOwn(Variables &Known);
  void run(Function &F, Variables &Known, ForeignValue &Returned);
  ForeignValue replace(const ForeignValue &In, llvm::ArrayRef<ast::Word> Path,
                       ForeignValue New);
  /// The effect of a statement on its function.
  enum class Kind { Followed, Skipped, Returns };
  Kind statement(Variables &Known, ForeignValue &Returned);
  bool namesObject(size_t Begin, const Variables &Known) const;
  void addSkipped(const Function &Of);
  ForeignValue sum(Variables &Known);
  ForeignValue product(Variables &Known);
  ForeignValue unary(Variables &Known);
  ForeignValue primary(Variables &Known);
  ForeignValue name(Variables &Known);
  ForeignValue arguments(Variables &Known, llvm::StringRef Callee,
                         size_t Begin);
  ForeignValue sequence(Variables &Known, llvm::StringRef Close);
  ForeignValue whole(Variables &Known);
  /// The source from a token up to the current one.
  ForeignValue written(size_t Begin);
  /// Returns whether all members of \p V may be visited.
  bool spend(const ForeignValue &V);
  void skipTo(llvm::function_ref<bool(const PythonToken &)> IsEnd);

  const PythonToken &here() const { return Tokens[Next]; }
  bool is(llvm::StringRef Sign) const {
    return here().Is == PythonKind::Sign && here().Spelling == Sign;
  }
  bool take(llvm::StringRef Sign) {
    if (!is(Sign))
      return false;
    ++Next;
    return true;
  }

  SourceText Source;
  const std::vector<PythonToken> Tokens;
  std::vector<Function> Functions;
  llvm::StringMap<size_t> Places; ///< of functions, by their names
  size_t Next = 0;
  Function *Current = nullptr; ///< whose statements are read
  /// Members that may still be visited. Objects of many members that are set
  /// one by one would else take long.
  size_t Left = size_t(1) << 22;
  unsigned Depth = 0;
};

} // namespace foretrace::importers
