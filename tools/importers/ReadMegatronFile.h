// SPDX-License-Identifier: Apache-2.0
//
// Files with arguments of Megatron-LM, told apart by what they hold.
#pragma once

#include "tools/importers/Importers.h"
#include "tools/importers/formulas/ForeignValue.h"

namespace foretrace::importers {

/// The arguments in a file.
struct MegatronArguments {
  ForeignValue Flags; ///< a map
  /// Whether they are attributes of a recipe, with its framework's defaults.
  bool AreOfRecipe = false;
  bool AreOfYaml = false; ///< most keys of which may be off
};

/// The flags of the file that the first word of \p Request names: a list of
/// arguments, a script, which gets the other words, a YAML file, assignments as
/// in Python, a file of Python with a recipe, or the block of arguments in a
/// log. Nothing after an error.
std::optional<MegatronArguments> readMegatronFile(ImportRequest &Request);

} // namespace foretrace::importers
