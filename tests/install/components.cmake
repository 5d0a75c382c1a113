# The package refuses components that it does not have, and provides those of the integer programs.
# cmake -DFROM=<prefix> -DCOMPILER=<compiler> -DWORK=<directory> [-DSOLVERS=ON] -P components.cmake
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

# find(<components> <status> <regex>): configures a project that asks for components.
function(find components expected regex)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/components -B ${WORK} -DCMAKE_CXX_COMPILER=${COMPILER}
                          -DCMAKE_PREFIX_PATH=${FROM} "-DASKED=${components}"
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  if(NOT status EQUAL ${expected} OR NOT output MATCHES "${regex}")
    message(FATAL_ERROR "find_package(memsched COMPONENTS ${components}) ends with ${status}:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
find("" 0 "")
find("compiled" 0 "")
find("nonsense" 1 "no component nonsense: there are only compiled, ilp and cbc")
if(SOLVERS)
  find("ilp;cbc" 0 "")
  run(${CMAKE_COMMAND} --build ${WORK})
  run(${WORK}/consumer)
endif()
