# Fails if HEADER, or a header of ours that it leads to, includes anything but memsched and the standard library, whose
# headers alone have names without a slash and a dot. With ALL also if HEADER does not lead to each of our headers that
# needs no more than that; adapters and ilp are opt-in.
# cmake -DCOMPILER=<compiler> -DINCLUDE=<directory> -DHEADER=memsched/<...> [-DALL=ON] -P includes.cmake
cmake_minimum_required(VERSION 3.22)
function(foreign_includes file result)
  file(STRINGS ${file} lines REGEX "^ *# *include")
  list(FILTER lines EXCLUDE REGEX "include (<(memsched/[a-z0-9_/]+\\.hpp|[a-z_]+)>|\"memsched needs (C\\+\\+20|NOMINMAX)\".*)$")
  set(${result} "${lines}" PARENT_SCOPE)
endfunction()

execute_process(COMMAND ${COMPILER} -std=c++20 -M -I ${INCLUDE} ${INCLUDE}/${HEADER}
                OUTPUT_VARIABLE rule COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[ \\\n]+" ";" reached "${rule}")
list(FILTER reached INCLUDE REGEX "/include/memsched/")
list(LENGTH reached count)
if(count LESS 20)
  message(FATAL_ERROR "only ${count} headers of ours found behind ${HEADER}: ${rule}")
endif()
foreach(file IN LISTS reached)
  foreign_includes(${file} foreign)
  if(foreign)
    message(SEND_ERROR "${file}: ${foreign}")
  endif()
endforeach()

if(ALL)
  file(GLOB_RECURSE ours ${INCLUDE}/memsched/*.hpp)
  list(FILTER ours EXCLUDE REGEX "/memsched/(adapters/|formats/|ilp/|definitions\\.hpp)")
  foreach(file IN LISTS ours)
    foreign_includes(${file} foreign)
    if(NOT foreign AND NOT file IN_LIST reached)
      message(SEND_ERROR "${HEADER} lacks ${file}")
    endif()
  endforeach()
endif()
