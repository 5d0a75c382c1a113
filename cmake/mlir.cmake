# memsched_mlir: what a translation unit needs that includes memsched/adapters/mlir.hpp; absent where no MLIR from 19 to 22 is installed.
# It links nothing: the compiler that loads a plugin has the one copy of MLIR. Hidden visibility must not be asked for: MLIR
# then takes its own traits for strangers, without a word.
option(MEMSCHED_MLIR "Build the adapter's plugin for MLIR where that is installed" ON)
if(MEMSCHED_MLIR)
  # 22 is tested; the headers of 19 were compiled.
  find_package(MLIR CONFIG QUIET PATHS /usr/lib/llvm-22 /usr/lib/llvm-21 /usr/lib/llvm-20 /usr/lib/llvm-19)
  if(MLIR_FOUND AND (LLVM_VERSION_MAJOR LESS 19 OR LLVM_VERSION_MAJOR GREATER 22))
    message(STATUS "MLIR ${LLVM_VERSION_MAJOR} is not one of 19 to 22: no adapter")
    set(MLIR_FOUND FALSE)
  endif()
  if(MLIR_FOUND)
    add_library(memsched_mlir INTERFACE)
    target_include_directories(memsched_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    target_compile_options(memsched_mlir INTERFACE -fno-exceptions -fno-rtti)
  endif()
endif()
