# SPDX-License-Identifier: Apache-2.0
#
# Writes FILES, which lie in FOLDER, to OUTPUT as rows of lang/Library.cpp.
set(rows "")
foreach(file IN LISTS FILES)
  file(READ ${FOLDER}/${file} text)
  string(APPEND rows "{\"${file}\", R\"library(${text})library\"},\n")
endforeach()
file(WRITE ${OUTPUT} "${rows}")
