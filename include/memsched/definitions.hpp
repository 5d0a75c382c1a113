// The library's large functions, for the one translation unit that compiles them (see base/linkage.hpp).
#pragma once

#if !defined(MEMSCHED_SEPARATE_COMPILATION)
#error "memsched/definitions.hpp is for programs that define MEMSCHED_SEPARATE_COMPILATION in all their translation units"
#endif
#if defined(MEMSCHED_FUNCTION)
#error "memsched/definitions.hpp must come before any other header of memsched"
#endif

#define MEMSCHED_DEFINITIONS
#include <memsched/memsched.hpp>
