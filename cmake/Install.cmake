# Headers, library and package configuration: find_package(glassformer) then gives glassformer::glassformer.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/glassformer)
install(TARGETS glassformer EXPORT glassformerTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/glassformer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT glassformerTargets NAMESPACE glassformer:: DESTINATION ${package_folder})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/glassformerConfig.cmake.in
  ${PROJECT_BINARY_DIR}/glassformerConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/glassformerConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/glassformerConfig.cmake ${PROJECT_BINARY_DIR}/glassformerConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/Dependencies.cmake DESTINATION ${package_folder})
