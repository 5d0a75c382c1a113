// expect: memsched: the graph lacks ops\(\)
// lines: 25
#include <memsched/graph/overlay.hpp>
#include <memsched/schedule.hpp>
struct nothing {};
int main() { (void)memsched::schedule(memsched::with_firing(nothing{}, memsched::firing::cbp)); }
