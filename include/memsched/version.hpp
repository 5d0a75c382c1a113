// The version of the library, as numbers that the preprocessor compares.
#pragma once

#include <version>

#define MEMSCHED_VERSION_MAJOR 0
#define MEMSCHED_VERSION_MINOR 1
#define MEMSCHED_VERSION_PATCH 0

/// 100 for 0.1.0, 10203 for 1.2.3.
#define MEMSCHED_VERSION (MEMSCHED_VERSION_MAJOR * 10000 + MEMSCHED_VERSION_MINOR * 100 + MEMSCHED_VERSION_PATCH)

/// "0.1.0".
#define MEMSCHED_VERSION_STRING MEMSCHED_VERSION_TEXT(MEMSCHED_VERSION_MAJOR, MEMSCHED_VERSION_MINOR, MEMSCHED_VERSION_PATCH)
#define MEMSCHED_VERSION_TEXT(major, minor, patch) MEMSCHED_VERSION_TEXT_(major, minor, patch)
#define MEMSCHED_VERSION_TEXT_(major, minor, patch) #major "." #minor "." #patch
