# Runs PROGRAM and fails unless it prints what the file EXPECTED holds.
# cmake -DPROGRAM=<program> -DEXPECTED=<file> -P compare_output.cmake
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE status OUTPUT_VARIABLE output)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ends with ${status}")
endif()
file(READ ${EXPECTED} expected)
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "expected:\n${expected}\nprinted:\n${output}")
endif()
