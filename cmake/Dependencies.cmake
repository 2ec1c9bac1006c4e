# The libraries, each a Debian package (see scripts/setup.sh). No public header shows one, but whoever links a static
# glassformer links them too: so the installed package finds them by this file (glassformerConfig.cmake.in).
find_package(OpenMP REQUIRED COMPONENTS CXX)

# glass_find(TARGET HEADER LIBRARY…): by header and file, where the package's own description asks for more than is needed.
macro(glass_find target header)
  string(MAKE_C_IDENTIFIER ${target} glass_name)
  find_path(${glass_name}_INCLUDE_DIR ${header} REQUIRED)
  set(glass_files)
  foreach(library ${ARGN})
    find_library(${glass_name}_${library} ${library} REQUIRED)
    list(APPEND glass_files ${${glass_name}_${library}})
  endforeach()
  if(NOT TARGET ${target})
    add_library(${target} INTERFACE IMPORTED)
  endif()
  set_target_properties(${target} PROPERTIES
    INTERFACE_LINK_LIBRARIES "${glass_files}" INTERFACE_INCLUDE_DIRECTORIES ${${glass_name}_INCLUDE_DIR})
endmacro()
glass_find(DNNL::dnnl dnnl.h dnnl)  # Debian's asks for OpenCL, which only its GPU engine needs
# Debian 13 describes it as needing protobuf, which only its own build does.
glass_find(sentencepiece::sentencepiece sentencepiece_processor.h sentencepiece sentencepiece_train)

find_package(nlohmann_json CONFIG REQUIRED)
find_package(fmt CONFIG REQUIRED)
find_package(tomlplusplus CONFIG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwy REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
