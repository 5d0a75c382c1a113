# memsched::ilp: what a translation unit needs that includes memsched/ilp (Eigen, headers alone). memsched::cbc: likewise for
# memsched/ilp/solvers/cbc.hpp. Each is absent where its library is not installed. Both this project and the installed package
# include this file.
find_path(MEMSCHED_EIGEN_INCLUDE Eigen/SparseCore PATH_SUFFIXES eigen3)
mark_as_advanced(MEMSCHED_EIGEN_INCLUDE)
if(MEMSCHED_EIGEN_INCLUDE AND NOT TARGET memsched::ilp)
  add_library(memsched::ilp INTERFACE IMPORTED GLOBAL)
  target_link_libraries(memsched::ilp INTERFACE memsched::memsched)
  target_include_directories(memsched::ilp SYSTEM INTERFACE ${MEMSCHED_EIGEN_INCLUDE})
endif()

find_path(MEMSCHED_CBC_INCLUDE CbcSolver.hpp PATH_SUFFIXES coin coin-or)
mark_as_advanced(MEMSCHED_CBC_INCLUDE)
set(memsched_cbc_libraries)
foreach(part IN ITEMS CbcSolver Cbc Cgl OsiClp Clp Osi CoinUtils)  # in the order of linking
  find_library(MEMSCHED_CBC_${part} ${part})
  mark_as_advanced(MEMSCHED_CBC_${part})
  list(APPEND memsched_cbc_libraries ${MEMSCHED_CBC_${part}})
endforeach()
if(TARGET memsched::ilp AND MEMSCHED_CBC_INCLUDE AND NOT "${memsched_cbc_libraries}" MATCHES NOTFOUND AND NOT TARGET memsched::cbc)
  add_library(memsched::cbc INTERFACE IMPORTED GLOBAL)
  target_link_libraries(memsched::cbc INTERFACE memsched::ilp ${memsched_cbc_libraries})
  target_include_directories(memsched::cbc SYSTEM INTERFACE ${MEMSCHED_CBC_INCLUDE})
endif()
unset(memsched_cbc_libraries)
