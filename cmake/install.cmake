# Install, export and version file of memsched::memsched (headers alone) and memsched::compiled; files for pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)

install(DIRECTORY include/memsched DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(TARGETS memsched EXPORT memsched-targets)
if(MEMSCHED_COMPILED)
  install(TARGETS memsched_compiled EXPORT memsched-targets)
endif()
foreach(package IN ITEMS memsched memsched-compiled)
  configure_file(cmake/${package}.pc.in ${package}.pc @ONLY)
endforeach()
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/memsched.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
if(MEMSCHED_COMPILED)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/memsched-compiled.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
install(EXPORT memsched-targets NAMESPACE memsched:: DESTINATION ${CMAKE_INSTALL_DATADIR}/cmake/memsched)

file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/memsched-config.cmake
     "include(CMakeFindDependencyMacro)\nfind_dependency(Threads)\ninclude(\${CMAKE_CURRENT_LIST_DIR}/memsched-targets.cmake)\n")
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/memsched-config-version.cmake
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/memsched-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/memsched-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_DATADIR}/cmake/memsched)
