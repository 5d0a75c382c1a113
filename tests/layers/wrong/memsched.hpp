#include <memsched/io/sideways.hpp>
