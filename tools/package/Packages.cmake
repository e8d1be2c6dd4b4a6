# SPDX-License-Identifier: Apache-2.0
#
# The static program, and the packages that contain it: one for Debian and an archive. A
# static program has no dependencies, so both run on any Linux of the same architecture.
set(doc_dir ${CMAKE_INSTALL_DATADIR}/doc/foretrace)
install(FILES copyright DESTINATION ${doc_dir} COMPONENT tool)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/examples DESTINATION ${doc_dir}
  COMPONENT tool)
# The library is part of the program; these are for people to read.
foreach(folder clusters devices layers models recipes)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/lang/${folder}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/foretrace COMPONENT tool)
endforeach()
# Debian's zsh does not look into site-functions of /usr.
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/generated/_foretrace
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT tool EXCLUDE_FROM_ALL)

include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS -static)
check_cxx_source_compiles("int main() {}" FORETRACE_LINKS_STATICALLY)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(FORETRACE_SANITIZERS OR NOT FORETRACE_LINKS_STATICALLY)
  return()
endif()

# The linker warns of `dlopen`, by which SQLite loads extensions; no code here asks it to.
add_executable(foretrace-static $<TARGET_OBJECTS:foretrace>)
set_target_properties(foretrace-static PROPERTIES LINKER_LANGUAGE CXX)
target_link_libraries(foretrace-static PRIVATE foretrace_tool)
target_link_options(foretrace-static PRIVATE -static -s LINKER:--gc-sections
  LINKER:-Map=${CMAKE_CURRENT_BINARY_DIR}/foretrace-static.map)
install(PROGRAMS $<TARGET_FILE:foretrace-static> RENAME foretrace
  DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool EXCLUDE_FROM_ALL)

# Debian has manual pages and the changes compressed.
set(compressed "${PROJECT_SOURCE_DIR}/docs/changes.md|changelog.gz|${doc_dir}")
foreach(manual IN LISTS manuals)
  cmake_path(GET manual FILENAME file)
  list(APPEND compressed "${manual}|${file}.gz|${CMAKE_INSTALL_MANDIR}/man1")
endforeach()
foreach(row IN LISTS compressed)
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 text)
  list(GET row 1 file)
  list(GET row 2 folder)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/generated/${file})
  add_custom_command(OUTPUT ${made} COMMAND gzip -9nc ${text} > ${made} DEPENDS ${text}
    VERBATIM)
  list(APPEND compressed_files ${made})
  install(FILES ${made} DESTINATION ${folder} COMPONENT tool EXCLUDE_FROM_ALL)
endforeach()
add_custom_target(package-files ALL DEPENDS ${compressed_files})
add_dependencies(package-files shell-files)

string(TOLOWER ${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR} platform)
set(CPACK_PACKAGE_NAME foretrace)
set(CPACK_PACKAGE_VENDOR "The Foretrace developers")
set(CPACK_PACKAGE_CONTACT "The Foretrace developers <foretrace@example.invalid>")
set(CPACK_PACKAGE_FILE_NAME foretrace-${PROJECT_VERSION}-${platform})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_COMPONENTS_ALL tool)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "From a description of the model, the batch and the parallelism it derives
workloads and traces for simulators, memory, communication volume, FLOPs
and the time of an iteration.")
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_THREADS 0)
set(CPACK_SOURCE_GENERATOR "")
include(CPack)
add_custom_target(packages
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${CPACK_PACKAGE_DIRECTORY}
  COMMAND ${CMAKE_CPACK_COMMAND}
  WORKING_DIRECTORY ${PROJECT_BINARY_DIR} DEPENDS foretrace-static package-files
  USES_TERMINAL)
