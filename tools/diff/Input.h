// SPDX-License-Identifier: Apache-2.0
//
// What is compared: a job, or the text form of a program.
#pragma once

#include "tools/compiler/Compiler.h"
#include "tools/diff/Difference.h"

namespace foretrace::diff {

class Input {
public:
  /// Reads the file at \p Path as text of the IR if it ends in `.ftir`, else as
  /// a job, as \p Reading says; messages begin as \p Diags.
  Input(Compiler &Session, llvm::StringRef Path, FrontendOptions Reading,
        DiagnosticEngine Diags);
  Input(const Input &) = delete;
  Input &operator=(const Input &) = delete;

  /// Returns whether it could be read; if not, messages have the reason.
  bool isRead() const { return Text || (Job && Job->spec()); }
  const DiagnosticEngine &messages() const {
    return Job ? Job->engine() : Diags;
  }

  /// Returns the side to compare with \p Other, both of which are read: the
  /// whole text, or all that numbers follow from. It lives as long as this.
  Side side(std::string Name, const Input &Other);

private:
  void readText(SourceFiles &Sources, llvm::StringRef Path);

  CompiledJob *Job = nullptr; ///< null of a text
  std::optional<ir::Program> Text;
  DiagnosticEngine Diags; ///< of a text
};

} // namespace foretrace::diff
