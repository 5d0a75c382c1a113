# A stranger's project finds the installed library (WAY find_package), asks pkg-config for it (pkg_config), or takes the source
# tree in (add_subdirectory); it links KIND: memsched, headers alone, or compiled.
# cmake -DWAY=<way> -DKIND=<kind> -DFROM=<prefix or source tree> -DCOMPILER=<compiler> -DWORK=<directory> -P consume.cmake
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/${WAY} -B ${WORK}/consumer -DCMAKE_CXX_COMPILER=${COMPILER} -DKIND=${KIND}
    -DCMAKE_PREFIX_PATH=${FROM} -DMEMSCHED_SOURCE=${FROM})
run(${CMAKE_COMMAND} --build ${WORK}/consumer)
run(${WORK}/consumer/consumer)

if(WAY STREQUAL add_subdirectory)  # installs its own files alone
  run(${CMAKE_COMMAND} --install ${WORK}/consumer --prefix ${WORK}/prefix)
  file(GLOB_RECURSE installed ${WORK}/prefix/*)
  if(installed)
    message(FATAL_ERROR "the consumer's install brings ${installed}")
  endif()
endif()
