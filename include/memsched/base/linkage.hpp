// Where the library's large functions are compiled, and the inline namespace in which it stands.
#pragma once

#if __cplusplus < 202002L && (!defined(_MSVC_LANG) || _MSVC_LANG < 202002L)
#error "memsched needs C++20: compile with -std=c++20 or later"
#include "memsched needs C++20"  // ends the compilation here: what follows would be thousands of errors
#endif

// By default they are inline: there is nothing to build. A program that defines MEMSCHED_SEPARATE_COMPILATION for all of
// its translation units compiles them once, in the unit that includes <memsched/definitions.hpp>, and the others fast. The
// CMake target memsched::compiled does that.
//
// MEMSCHED_ABI names the version and the way of linking, so that units which disagree in either do not link where they
// exchange values of the library.
#if defined(MEMSCHED_SEPARATE_COMPILATION)
#define MEMSCHED_FUNCTION
#define MEMSCHED_ABI v0_1_compiled
#else
#define MEMSCHED_FUNCTION inline
#define MEMSCHED_ABI v0_1
#endif

#if !defined(MEMSCHED_SEPARATE_COMPILATION) || defined(MEMSCHED_DEFINITIONS)
#define MEMSCHED_DEFINED_HERE 1
#else
#define MEMSCHED_DEFINED_HERE 0
#endif
