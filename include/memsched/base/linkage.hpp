// Where the library's large functions are compiled.
#pragma once

// By default they are inline: there is nothing to build. A program that defines MEMSCHED_SEPARATE_COMPILATION for all of
// its translation units compiles them once, in the unit that includes <memsched/definitions.hpp>, and the others fast.
#if defined(MEMSCHED_SEPARATE_COMPILATION)
#define MEMSCHED_FUNCTION
#else
#define MEMSCHED_FUNCTION inline
#endif

#if !defined(MEMSCHED_SEPARATE_COMPILATION) || defined(MEMSCHED_DEFINITIONS)
#define MEMSCHED_DEFINED_HERE 1
#else
#define MEMSCHED_DEFINED_HERE 0
#endif
