# glass_layer(NAME SOURCES … USES lower layers … LIBRARIES …): an object library for one folder of src/.
# Includes point down only; scripts/check_layers.sh refuses an upward one.
set_property(GLOBAL PROPERTY GLASS_LAYERS "")

function(glass_layer name)
  cmake_parse_arguments(LAYER "" "" "SOURCES;USES;LIBRARIES" ${ARGN})
  add_library(glass_${name} OBJECT ${LAYER_SOURCES})
  glass_options(glass_${name})
  set_target_properties(glass_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(glass_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> PRIVATE ${PROJECT_SOURCE_DIR}/src)
  foreach(lower IN LISTS LAYER_USES)
    add_dependencies(glass_${name} glass_${lower})
  endforeach()
  target_link_libraries(glass_${name} PRIVATE fmt::fmt ${LAYER_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY GLASS_LAYERS glass_${name})
endfunction()

function(glass_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)  # finds faults in std::string's own operator+ (GCC bug 105651)
  endif()
  if(GLASSFORMER_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
