# Install, export and version file of memsched::memsched (headers alone) and memsched::compiled; files for pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)

# Headers alone serve every architecture, an archive one.
if(MEMSCHED_COMPILED)
  set(package_destination ${CMAKE_INSTALL_LIBDIR}/cmake/memsched)
  set(architecture)
else()
  set(package_destination ${CMAKE_INSTALL_DATADIR}/cmake/memsched)
  set(architecture ARCH_INDEPENDENT)
endif()

install(DIRECTORY include/memsched DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(TARGETS memsched EXPORT memsched-targets)
if(MEMSCHED_COMPILED)
  install(TARGETS memsched_compiled EXPORT memsched-targets)
endif()

# An installed tree may be moved: files for pkg-config name its root from where they stand.
function(memsched_install_pc package destination)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${destination}")
    set(MEMSCHED_PREFIX ${CMAKE_INSTALL_PREFIX})
    set(MEMSCHED_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
    set(MEMSCHED_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
  else()
    file(RELATIVE_PATH up /${destination} /)
    set(MEMSCHED_PREFIX \${pcfiledir}/${up})
    set(MEMSCHED_INCLUDEDIR \${prefix}${CMAKE_INSTALL_INCLUDEDIR})
    set(MEMSCHED_LIBDIR \${prefix}${CMAKE_INSTALL_LIBDIR})
  endif()
  configure_file(cmake/${package}.pc.in ${package}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc DESTINATION ${destination})
endfunction()
memsched_install_pc(memsched ${CMAKE_INSTALL_DATADIR}/pkgconfig)
if(MEMSCHED_COMPILED)
  memsched_install_pc(memsched-compiled ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

install(EXPORT memsched-targets NAMESPACE memsched:: DESTINATION ${package_destination})
install(FILES cmake/solvers.cmake RENAME memsched-solvers.cmake DESTINATION ${package_destination})
configure_package_config_file(cmake/memsched-config.cmake.in memsched-config.cmake INSTALL_DESTINATION ${package_destination})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/memsched-config-version.cmake
                                 COMPATIBILITY SameMinorVersion ${architecture})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/memsched-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/memsched-config-version.cmake
        DESTINATION ${package_destination})
