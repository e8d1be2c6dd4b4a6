# SPDX-License-Identifier: Apache-2.0
#
# Writes FILES, which lie in FOLDER, to OUTPUT as rows of lang/Library.cpp; and
# their models, each after a comment of one line with its name, to MODELS.
set(rows "")
set(models "")
foreach(file IN LISTS FILES)
  file(READ ${FOLDER}/${file} text)
  string(APPEND rows "{\"${file}\", R\"library(${text})library\"},\n")
  string(REGEX MATCHALL "// [^\n:;]*: [^\n;]*\nmodel [a-z0-9_]+" found "${text}")
  string(REGEX MATCHALL "\nmodel [a-z0-9_]+" declared "${text}")
  list(LENGTH found num_found)
  list(LENGTH declared num_declared)
  if(MODELS AND NOT num_found EQUAL num_declared)
    message(FATAL_ERROR "${file}: a model lacks the line with its title and source")
  endif()
  foreach(model IN LISTS found)
    string(REGEX MATCH "// ([^\n:]*): ([^\n]*)\nmodel ([a-z0-9_]+)" all "${model}")
    string(APPEND models
      "{\"${CMAKE_MATCH_1}\", \"${CMAKE_MATCH_3}\", \"${file}\", \"${CMAKE_MATCH_2}\"},\n")
  endforeach()
endforeach()
file(WRITE ${OUTPUT} "${rows}")
if(MODELS)
  file(WRITE ${MODELS} "${models}")
endif()
