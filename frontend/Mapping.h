// SPDX-License-Identifier: Apache-2.0
//
// The meaning of other tools' keys, read from pages of the library
// (lang/import/**/*.fore). A page has classes, each of which may build on
// another:
//
//   class qwen3 : llama {
//     types = ["qwen3"]              // what selects it
//     names { hidden = "d_model" }   // other spellings of a key
//     defaults { head_dim = 128 }    // of the tool, where a key is absent
//     omitted { bias = false }       // values that a job need not write
//     read { keys = "a b" }          // keys that code reads
//     no_effect { data = "split" }   // keys that change nothing, by kind
//     alike { layers = "full" }      // values that all classes read alike
//     not_modelled { x = "..." }     // what is wrong without a key, or
//                                    // without several: ["x y", "..."]
//     let is_gated = true
//     require heads > 0, "..."       // an error
//     if window > 0 { warn = "..." } // a warning
//     model { hidden = hidden }      // sections of the job
//     layers {                       // of each `layer`
//       count = num_layers   name = "dense"
//       attention gqa { ... }   ffn { ... }   experts = num_experts
//     }
//   }
//
// Values are formulas, whose names are keys of the input; Functions.cpp has
// what they call.
#pragma once

#include "lang/AST.h"
#include "lang/Diagnostic.h"
#include "lang/SourceFiles.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <deque>

namespace foretrace {

/// The pages of a folder of the library, parsed when they are needed.
class Pages {
public:
  /// \p Folder is `import/huggingface/`, or a single page.
  Pages(llvm::StringRef Folder, SourceFiles &Sources, DiagnosticEngine &Diags)
      : Folder(Folder), Sources(Sources), Diags(Diags) {}

  /// The class that has \p Word in its list \p List; null if none has.
  const ast::Section *findBy(llvm::StringRef List, llvm::StringRef Word);
  const ast::Section *findClass(llvm::StringRef Name);
  /// The words of the lists \p List of all classes.
  std::vector<std::string> wordsOf(llvm::StringRef List);
  /// All classes, in the order of their pages.
  std::vector<const ast::Section *> classes();

private:
  const ast::File *page(llvm::StringRef Path, llvm::StringRef Text);
  const ast::Section *
  findIn(llvm::StringRef Text,
         llvm::function_ref<bool(const ast::Section &)> IsIt);

  const llvm::StringRef Folder;
  SourceFiles &Sources;
  DiagnosticEngine &Diags;
  llvm::StringMap<std::optional<ast::File>> Parsed;
};

/// A class with those that it builds on.
class Mapping {
public:
  Mapping(Pages &From, const ast::Section &Class);
  /// Adds a class that overrides the rules of others.
  void add(Pages &From, const ast::Section &Class);

  /// The entries of all, those of the outermost base first.
  llvm::ArrayRef<const ast::Entry *> entries() const { return Entries; }
  const ast::Expr *findLet(llvm::StringRef Name) const {
    return Lets.lookup(Name);
  }
  const ast::Expr *findDefault(llvm::StringRef Key) const {
    return Defaults.lookup(Key);
  }
  /// Other spellings of \p Key.
  llvm::ArrayRef<std::string> spellings(llvm::StringRef Key) const;
  /// Returns the key of which \p Key is another spelling; itself if of none.
  llvm::StringRef mainName(llvm::StringRef Key) const;
  /// The words of the texts that the classes assign to \p Key.
  std::vector<llvm::StringRef> wordsOf(llvm::StringRef Key) const;
  /// The value that a key of a job has if it is not written; nothing if it
  /// always is.
  const ast::Expr *findOmitted(llvm::StringRef Key) const {
    return Omitted.lookup(Key);
  }

  enum class Fate : unsigned char { Used, NoEffect, NotModelled, Unknown };
  struct FateOfKey {
    Fate Is;
    llvm::StringRef Consequence = {}; ///< if it is not modelled
    bool IsOfPattern = false;         ///< that ends in `*`
  };
  /// Returns how a key of the input is treated.
  FateOfKey fateOf(llvm::StringRef Key) const;
  /// The values with which all classes read a key alike, for each such key.
  const llvm::StringMap<llvm::SmallVector<llvm::StringRef, 4>> &alike() const {
    return Alike;
  }
  /// All keys that formulas read, for "did you mean".
  std::vector<llvm::StringRef> usedKeys() const;

private:
  void collect(const ast::Entry &E);
  void collectKeys(const ast::Section &S);
  void collectWords(llvm::StringRef List, llvm::StringRef Key,
                    llvm::StringRef Text);
  void read(const ast::Expr &E);
  void readEntries(llvm::ArrayRef<ast::Entry> All);
  /// Returns whether a formula or code reads a key of the input. A `let` hides
  /// a key of its name.
  bool isUsed(llvm::StringRef Key) const;

  std::vector<const ast::Entry *> Entries;
  llvm::StringMap<const ast::Expr *> Lets, Defaults, Omitted;
  llvm::StringMap<llvm::StringRef> Lost; ///< what is wrong without a key
  llvm::StringMap<std::vector<std::string>> Names;
  llvm::StringMap<llvm::SmallVector<llvm::StringRef, 4>> Alike;
  llvm::StringSet<> Used, Ignored;
  llvm::StringSet<> Named;                    ///< in formulas, `let`s included
  std::vector<llvm::StringRef> IgnoredStarts; ///< of names
};

/// The text of a string.
llvm::StringRef textOf(const ast::Expr &E);
/// The names and the text about them of `kind = ["names", "text"]`; of
/// `name = "text"`, its key.
std::pair<llvm::StringRef, llvm::StringRef>
namesAndText(const ast::Assignment &A);
/// The text that a class assigns to \p Key; empty if it does not.
llvm::StringRef textOfKey(const ast::Section &Class, llvm::StringRef Key);
/// The keyword of a section, with nothing of a section for other entries.
const ast::Section *sectionOf(const ast::Entry &E);

} // namespace foretrace
