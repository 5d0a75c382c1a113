# memsched_mlir: what a translation unit needs that includes memsched/adapters/mlir.hpp; absent where MLIR 22 is not installed.
# It links nothing: the compiler that loads a plugin has the one copy of MLIR. Hidden visibility must not be asked for: MLIR
# then takes its own traits for strangers, without a word.
option(MEMSCHED_MLIR "Build the adapter's plugin for MLIR where that is installed" ON)
if(MEMSCHED_MLIR)
  find_package(MLIR 22.1 CONFIG QUIET PATHS /usr/lib/llvm-22)
  if(MLIR_FOUND)
    add_library(memsched_mlir INTERFACE)
    target_include_directories(memsched_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    target_compile_options(memsched_mlir INTERFACE -fno-exceptions -fno-rtti)
  endif()
endif()
