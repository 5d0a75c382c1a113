#include <memsched/schedule.hpp>

#include "graph.hpp"

memsched::bytes peak_by_other() { return memsched::schedule(chain().build().value()).peak; }
