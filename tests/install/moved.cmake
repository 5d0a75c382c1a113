# An installed tree still serves after it has been moved; the package refuses components that it does not have and provides those
# of the integer programs.
# cmake -DSOURCE=<memsched> -DCOMPILER=<compiler> -DWORK=<directory> [-DPKG_CONFIG=<program>] [-DSOLVERS=ON] -P moved.cmake
cmake_minimum_required(VERSION 3.22)
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGV}\nends with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/memsched -DCMAKE_CXX_COMPILER=${COMPILER} -DMEMSCHED_BUILD_TESTS=OFF
    -DMEMSCHED_BUILD_EXAMPLES=OFF -DMEMSCHED_COMPILED=OFF -DCMAKE_INSTALL_PREFIX=${WORK}/prefix)
run(${CMAKE_COMMAND} --install ${WORK}/memsched)
file(RENAME ${WORK}/prefix ${WORK}/moved)

if(PKG_CONFIG)
  set(ENV{PKG_CONFIG_PATH} ${WORK}/moved/share/pkgconfig)
  run(${PKG_CONFIG} --cflags-only-I memsched)
  string(STRIP "${output}" include)
  string(REGEX REPLACE "^-I" "" include "${include}")
  if(NOT EXISTS ${include}/memsched/schedule.hpp)
    message(FATAL_ERROR "pkg-config names ${include}, where there are no headers")
  endif()
endif()

# find(<components> <status> [<regex>]): configures a project that asks for components.
function(find components expected regex)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/components -B ${WORK}/components -DCMAKE_CXX_COMPILER=${COMPILER}
                          -DCMAKE_PREFIX_PATH=${WORK}/moved "-DASKED=${components}"
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  if(NOT status EQUAL ${expected} OR NOT output MATCHES "${regex}")
    message(FATAL_ERROR "find_package(memsched COMPONENTS ${components}) ends with ${status}:\n${output}")
  endif()
endfunction()
find("" 0 "")
find("nonsense" 1 "no component nonsense: there are only compiled, ilp and cbc")
find("compiled" 1 "no component compiled: it was installed without")
if(SOLVERS)
  find("ilp;cbc" 0 "")
  run(${CMAKE_COMMAND} --build ${WORK}/components)
  run(${WORK}/components/consumer)
endif()
