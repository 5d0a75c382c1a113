#include <memsched/graph/upward.hpp>
#include <memsched/schedulers/rpo.hpp>
