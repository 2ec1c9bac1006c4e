# glass_page(TARGET): builds the inspector's page (page/, TypeScript) with Node and makes it part of TARGET, which has
# page_files.cc among its sources. Node is never needed: AUTO builds a program without the page where node or npm is
# missing or npm cannot fetch what the page needs; with ON that is an error; OFF leaves the page out.
set(GLASSFORMER_BUILD_PAGE AUTO CACHE STRING "Build the inspector's page into the program (needs node and npm): AUTO, ON, OFF")
set_property(CACHE GLASSFORMER_BUILD_PAGE PROPERTY STRINGS AUTO ON OFF)

# Where to find node and npm, or why there will be no page.
function(glass_find_node)
  if(GLASSFORMER_BUILD_PAGE STREQUAL "OFF")
    set(GLASS_NODE "" PARENT_SCOPE)
    return()
  endif()
  find_program(GLASS_NODE_PROGRAM node)
  find_program(GLASS_NPM_PROGRAM npm)
  if(GLASS_NODE_PROGRAM AND GLASS_NPM_PROGRAM)
    set(GLASS_NODE "${GLASS_NODE_PROGRAM}" PARENT_SCOPE)
    set(GLASS_NPM "${GLASS_NPM_PROGRAM}" PARENT_SCOPE)
    return()
  endif()
  set(GLASS_NODE "" PARENT_SCOPE)
  if(GLASSFORMER_BUILD_PAGE STREQUAL "ON")
    message(FATAL_ERROR "GLASSFORMER_BUILD_PAGE=ON needs node and npm (Debian: apt-get install nodejs npm)")
  endif()
  message(STATUS "node or npm not found: the program will be without the inspector's page")
endfunction()

function(glass_page target)
  glass_find_node()
  set(page ${PROJECT_SOURCE_DIR}/page)
  set(built ${PROJECT_BINARY_DIR}/page)
  set(files ${built}/index.html.gz ${built}/app.js.gz ${built}/app.css.gz)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${page}/src/*)
  file(GLOB settings CONFIGURE_DEPENDS ${page}/*.json ${page}/*.mjs ${page}/*.html ${page}/.npmrc)
  add_custom_command(OUTPUT ${files}
    COMMAND ${CMAKE_COMMAND} -DNODE=${GLASS_NODE} -DNPM=${GLASS_NPM} -DPAGE=${page} -DBUILT=${built}
      -DREQUIRED=${GLASSFORMER_BUILD_PAGE} -DTESTED=${GLASSFORMER_BUILD_TESTS} -P ${PROJECT_SOURCE_DIR}/cmake/BuildPage.cmake
    DEPENDS ${sources} ${settings} ${PROJECT_SOURCE_DIR}/cmake/BuildPage.cmake
    COMMENT "Building the inspector's page" VERBATIM)
  target_sources(${target} PRIVATE ${files})
  set_source_files_properties(page_files.cc PROPERTIES
    OBJECT_DEPENDS "${files}" COMPILE_DEFINITIONS "GLASS_PAGE_FOLDER=\"${built}\"")
endfunction()
