# A stranger's project finds the installed library (WAY find_package), asks pkg-config for it (pkg_config), or takes the source
# tree in (add_subdirectory); it links KIND: memsched, headers alone, or compiled.
# cmake -DWAY=<way> -DKIND=<kind> -DSOURCE=<memsched> -DCOMPILER=<compiler> -DWORK=<directory> -P consume.cmake
cmake_minimum_required(VERSION 3.22)
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGV}\nends with ${status}:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
set(flags -DCMAKE_CXX_COMPILER=${COMPILER} -DKIND=${KIND})
if(NOT WAY STREQUAL add_subdirectory)
  if(KIND STREQUAL compiled)
    set(compiled ON)
  else()
    set(compiled OFF)
  endif()
  run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/memsched ${flags} -DMEMSCHED_BUILD_TESTS=OFF -DMEMSCHED_BUILD_EXAMPLES=OFF
      -DMEMSCHED_COMPILED=${compiled} -DCMAKE_INSTALL_PREFIX=${WORK}/prefix)
  run(${CMAKE_COMMAND} --build ${WORK}/memsched)
  run(${CMAKE_COMMAND} --install ${WORK}/memsched)
  list(APPEND flags -DCMAKE_PREFIX_PATH=${WORK}/prefix)
else()
  list(APPEND flags -DMEMSCHED_SOURCE=${SOURCE})
endif()
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/${WAY} -B ${WORK}/consumer ${flags})
run(${CMAKE_COMMAND} --build ${WORK}/consumer)
run(${WORK}/consumer/consumer)

if(WAY STREQUAL add_subdirectory)  # installs its own files alone
  run(${CMAKE_COMMAND} --install ${WORK}/consumer --prefix ${WORK}/prefix)
  file(GLOB_RECURSE installed ${WORK}/prefix/*)
  if(installed)
    message(FATAL_ERROR "the consumer's install brings ${installed}")
  endif()
endif()
