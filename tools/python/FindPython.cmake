# Which Python the module is built for, and whether there is all that it takes: sets
# FORETRACE_HAS_PYTHON. Debian's Python has the packages that the module uses; set
# Python_EXECUTABLE for another one. A module with sanitizers can't be imported by a
# Python without.
set(FORETRACE_HAS_PYTHON OFF)
if(NOT FORETRACE_SANITIZERS)
  find_program(Python_EXECUTABLE python3 PATHS /usr/bin NO_DEFAULT_PATH)
  find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module)
  find_path(PYBIND11_INCLUDE_DIR pybind11/pybind11.h)
  if(Python_Development.Module_FOUND AND PYBIND11_INCLUDE_DIR)
    set(FORETRACE_HAS_PYTHON ON)
  endif()
endif()
