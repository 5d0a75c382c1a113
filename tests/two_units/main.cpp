#include <memsched/schedule.hpp>

// The rest after the front door, where it must not hide names that the default scheduler uses.
#include <memsched/memsched.hpp>

#include "graph.hpp"

int main() { return memsched::schedule(chain().build().value()).peak == 7 && peak_by_other() == 7 ? 0 : 1; }
