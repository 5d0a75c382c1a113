# Install, export and version file of the header-only target memsched::memsched.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY include/memsched DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(TARGETS memsched EXPORT memsched-targets)
install(EXPORT memsched-targets NAMESPACE memsched:: DESTINATION ${CMAKE_INSTALL_DATADIR}/cmake/memsched)

file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/memsched-config.cmake
     "include(CMakeFindDependencyMacro)\nfind_dependency(Threads)\ninclude(\${CMAKE_CURRENT_LIST_DIR}/memsched-targets.cmake)\n")
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/memsched-config-version.cmake
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/memsched-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/memsched-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_DATADIR}/cmake/memsched)
