# memsched_ilp: what a translation unit needs that includes memsched/ilp (Eigen, headers alone). memsched_cbc: likewise for
# memsched/ilp/solvers/cbc.hpp; absent where Cbc is not installed.
find_path(MEMSCHED_EIGEN_INCLUDE Eigen/SparseCore PATH_SUFFIXES eigen3)
if(MEMSCHED_EIGEN_INCLUDE)
  add_library(memsched_ilp INTERFACE)
  target_link_libraries(memsched_ilp INTERFACE memsched::memsched)
  target_include_directories(memsched_ilp SYSTEM INTERFACE ${MEMSCHED_EIGEN_INCLUDE})

  find_path(MEMSCHED_CBC_INCLUDE CbcSolver.hpp PATH_SUFFIXES coin coin-or)
  if(MEMSCHED_CBC_INCLUDE)
    add_library(memsched_cbc INTERFACE)
    foreach(part CbcSolver Cbc Cgl OsiClp Clp Osi CoinUtils)
      find_library(MEMSCHED_CBC_${part} ${part} REQUIRED)
      target_link_libraries(memsched_cbc INTERFACE ${MEMSCHED_CBC_${part}})
    endforeach()
    target_link_libraries(memsched_cbc INTERFACE memsched_ilp)
    target_include_directories(memsched_cbc SYSTEM INTERFACE ${MEMSCHED_CBC_INCLUDE})
  endif()
endif()
