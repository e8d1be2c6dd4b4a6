// SPDX-License-Identifier: Apache-2.0
//
// Where the shipped library of models lies: beside an installed tool, or in
// the source tree of a tool that was only built.
#ifndef FORETRACE_TOOLS_LIBRARY_H
#define FORETRACE_TOOLS_LIBRARY_H

#include <string>

namespace foretrace {

/// Looks for the library from the path the program was called by.
void findLibrary(const char *ProgramPath);
/// The folder that holds `models/`.
const std::string &libraryPath();

} // namespace foretrace

#endif
