# Fails unless CASE does not compile, with the text of its `// expect:` lines and without that of its `// refuse:` lines, in at
# most `// lines:` lines of output; `// flags:` are added to the command.
# cmake -DCOMPILER=<g++|clang++> -DINCLUDE=<directory> -DCASE=<file.cpp> -P expect.cmake
cmake_minimum_required(VERSION 3.22)
file(STRINGS ${CASE} expected REGEX "^// expect: ")
file(STRINGS ${CASE} limit REGEX "^// lines: ")
string(REGEX REPLACE "^// lines: " "" limit "${limit}")
file(STRINGS ${CASE} flags REGEX "^// flags: ")
string(REGEX REPLACE "^// flags: " "" flags "${flags}")

# The front door says the same in both ways of linking; with the large functions elsewhere it is read in a third of the time.
execute_process(COMMAND ${COMPILER} -std=c++20 -DMEMSCHED_SEPARATE_COMPILATION ${flags} -fsyntax-only -I ${INCLUDE} ${CASE}
                RESULT_VARIABLE status ERROR_VARIABLE output OUTPUT_QUIET)
if(status EQUAL 0)
  message(FATAL_ERROR "it compiles")
endif()
foreach(line IN LISTS expected)
  string(REGEX REPLACE "^// expect: " "" text "${line}")
  if(NOT output MATCHES "${text}")
    message(FATAL_ERROR "no line says: ${text}\n${output}")
  endif()
endforeach()
file(STRINGS ${CASE} refused REGEX "^// refuse: ")
foreach(line IN LISTS refused)
  string(REGEX REPLACE "^// refuse: " "" text "${line}")
  if(output MATCHES "${text}")
    message(FATAL_ERROR "a line says: ${text}\n${output}")
  endif()
endforeach()
string(REGEX MATCHALL "\n" newlines "${output}")
list(LENGTH newlines lines)
if(lines GREATER limit)
  message(FATAL_ERROR "${lines} lines, at most ${limit} expected:\n${output}")
endif()
