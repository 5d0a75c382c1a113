// Switches where the library's large functions are compiled, and names its inline namespace.
#pragma once

#if __cplusplus < 202002L && (!defined(_MSVC_LANG) || _MSVC_LANG < 202002L)
#error "memsched needs C++20: compile with -std=c++20 or later"
#include "memsched needs C++20"  // stops here: thousands of errors would follow
#endif

#include <memsched/version.hpp>

#if defined(min) || defined(max)
#error "memsched: min or max is a macro: define NOMINMAX before windows.h is included"
#include "memsched needs NOMINMAX"  // ends the compilation here
#endif

// By default the large functions are inline: there is nothing to build. A program that defines MEMSCHED_SEPARATE_COMPILATION
// for all of its translation units compiles them once, in the unit that includes <memsched/definitions.hpp>, and the others
// fast. The CMake target memsched::compiled does that.
#if defined(MEMSCHED_SEPARATE_COMPILATION)
#define MEMSCHED_FUNCTION
#define MEMSCHED_ABI_LINKAGE _compiled
#else
#define MEMSCHED_FUNCTION inline
#define MEMSCHED_ABI_LINKAGE
#endif

#if !defined(MEMSCHED_SEPARATE_COMPILATION) || defined(MEMSCHED_DEFINITIONS)
#define MEMSCHED_DEFINED_HERE 1
#else
#define MEMSCHED_DEFINED_HERE 0
#endif

// Settings that change the layout of the standard library's types.
#if defined(_GLIBCXX_DEBUG)
#define MEMSCHED_ABI_DEBUG _debug
#else
#define MEMSCHED_ABI_DEBUG
#endif
#if defined(__GLIBCXX__) && !_GLIBCXX_USE_CXX11_ABI
#define MEMSCHED_ABI_STRINGS _old_strings
#else
#define MEMSCHED_ABI_STRINGS
#endif

// The inline namespace of the whole library. It names the version, the way of linking and the layout of standard types, so
// that units which disagree in any of them do not link if they exchange values of the library.
#define MEMSCHED_JOIN_(major, minor, patch, linkage, debug, strings) v##major##_##minor##_##patch##linkage##debug##strings
#define MEMSCHED_JOIN(major, minor, patch, linkage, debug, strings) \
  MEMSCHED_JOIN_(major, minor, patch, linkage, debug, strings)
#define MEMSCHED_ABI                                                                                          \
  MEMSCHED_JOIN(MEMSCHED_VERSION_MAJOR, MEMSCHED_VERSION_MINOR, MEMSCHED_VERSION_PATCH, MEMSCHED_ABI_LINKAGE, \
                MEMSCHED_ABI_DEBUG, MEMSCHED_ABI_STRINGS)

// An exception that one shared library throws and another one catches.
#if defined(__GNUC__)
#define MEMSCHED_EXCEPTION __attribute__((visibility("default")))
#else
#define MEMSCHED_EXCEPTION
#endif

// Public names stand in `memsched`; the rooms below have namespaces of their own, of which each sees those that the floor plan
// lists for it. `detail` holds the insides of public things and sees all rooms.
namespace memsched {
inline namespace MEMSCHED_ABI {
namespace base {}
namespace structure {
using namespace base;
}
namespace bounds {
using namespace structure;
}
namespace presolve {
using namespace bounds;
}
namespace proof {
using namespace base;
}
namespace detail {
using namespace presolve;
using namespace proof;
}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
