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
//     not_modelled { x = "..." }     // what is wrong without a key
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
#ifndef FORETRACE_TOOLS_IMPORTERS_FORMULAS_MAPPING_H
#define FORETRACE_TOOLS_IMPORTERS_FORMULAS_MAPPING_H

#include "lang/SourceFiles.h"
#include "tools/importers/formulas/ForeignValue.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <deque>

namespace foretrace::importers {

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
  /// Adds a class that changes what others say.
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
  /// The value that a key of a job has if it is not written; nothing if it
  /// always is.
  const ast::Expr *findOmitted(llvm::StringRef Key) const {
    return Omitted.lookup(Key);
  }

  enum class Fate : unsigned char { Used, NoEffect, NotModelled, Unknown };
  struct FateOfKey {
    Fate Is;
    const ast::Expr *Consequence = nullptr; ///< if it is not modelled
  };
  /// Returns how a key of the input is treated.
  FateOfKey fateOf(llvm::StringRef Key) const;
  /// Whether all classes read a key with this value alike.
  bool isAlike(const ForeignValue::Member &M) const;
  /// All keys that formulas read, for "did you mean".
  std::vector<llvm::StringRef> usedKeys() const;

private:
  void collect(const ast::Entry &E);
  void collectKeys(const ast::Section &S);
  void collectWords(llvm::StringRef List, llvm::StringRef Key,
                    llvm::StringRef Text);
  void read(const ast::Expr &E);
  void readEntries(llvm::ArrayRef<ast::Entry> All);
  /// Whether a formula or code reads a key of the input. A `let` hides a key of
  /// its name.
  bool isUsed(llvm::StringRef Key) const;

  std::vector<const ast::Entry *> Entries;
  llvm::StringMap<const ast::Expr *> Lets, Defaults, Omitted, Lost;
  llvm::StringMap<std::vector<std::string>> Names;
  llvm::StringMap<llvm::SmallVector<llvm::StringRef, 4>> Alike;
  llvm::StringSet<> Used, Ignored;
  llvm::StringSet<> Named;                    ///< in formulas, `let`s included
  std::vector<llvm::StringRef> IgnoredStarts; ///< of names
};

/// The text of a string, and the words of one that has several.
llvm::StringRef textOf(const ast::Expr &E);
/// The text that a class assigns to \p Key; empty if it does not.
llvm::StringRef textOfKey(const ast::Section &Class, llvm::StringRef Key);
/// The keyword of a section, with nothing of a section for other entries.
const ast::Section *sectionOf(const ast::Entry &E);

} // namespace foretrace::importers

#endif
