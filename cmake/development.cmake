# Settings for work on memsched itself alone: default build type, warnings, sanitizers.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(MEMSCHED_SANITIZE "" CACHE STRING "Sanitizers for tests, examples and fuzz targets, such as address,undefined")

# Tests and the demo do not measure speed: at -O1 the library searches about as fast as at -O3, and compiles in half the time.
option(MEMSCHED_QUICK "Optimize the compiled library, the program and the examples little" OFF)
set(MEMSCHED_QUICK_OPTIONS)
if(MEMSCHED_QUICK)
  set(MEMSCHED_QUICK_OPTIONS $<$<CONFIG:Release>:-O1>)
endif()
# Most tests are optimized a little, which would else take longer to compile than to run. The compiled library does most of their
# work: under sanitizers, without -O1, that takes three times as long.
set(MEMSCHED_LIBRARY_OPTIONS ${MEMSCHED_QUICK_OPTIONS})
set(MEMSCHED_TEST_OPTIONS $<$<CONFIG:Release>:-O1>)
if(MEMSCHED_SANITIZE)
  set(MEMSCHED_LIBRARY_OPTIONS -O1)
  set(MEMSCHED_TEST_OPTIONS -O1)
endif()

# memsched_test_options(<target> [plain]): how a program of tests is compiled; plain: without optimization.
function(memsched_test_options target)
  set(options ${MEMSCHED_TEST_OPTIONS})
  set(headers memsched_test_headers_optimized)
  if("plain" IN_LIST ARGN)
    set(options -O0)
    set(headers memsched_test_headers_plain)
  endif()
  target_compile_options(${target} PRIVATE ${options})
  if(TARGET ${headers})
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

add_library(memsched_development INTERFACE)
target_link_libraries(memsched_development INTERFACE memsched::memsched)
# Without collecting garbage g++ compiles a unit in a sixth less time, and in a quarter more memory (1 GB at most).
target_compile_options(memsched_development INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=4194304>)
if(MEMSCHED_STRICT)
  target_compile_options(memsched_development INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
  # g++ 12 sees overlaps and uninitialized members in std::string and Boost that are not there; the headers alone are
  # compiled without this (tests/headers).
  target_compile_options(memsched_development INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
if(MEMSCHED_SANITIZE)
  target_compile_options(memsched_development INTERFACE -fsanitize=${MEMSCHED_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(memsched_development INTERFACE -fsanitize=${MEMSCHED_SANITIZE})
endif()

# The same with the large functions compiled once, for the program and the tests.
add_library(memsched_separate INTERFACE)
target_link_libraries(memsched_separate INTERFACE memsched_compiled memsched_development)
target_link_libraries(memsched_compiled PRIVATE $<BUILD_INTERFACE:memsched_development>)
target_compile_options(memsched_compiled PRIVATE ${MEMSCHED_LIBRARY_OPTIONS})

include(cmake/onnx.cmake)
include(cmake/tflite.cmake)
include(cmake/sdf3.cmake)
include(cmake/mlir.cmake)
