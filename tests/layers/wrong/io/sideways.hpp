#include <memsched/io/sideways.hpp>
#include <memsched/schedule.hpp>
