// expect: memsched: the policy is no scheduler
// lines: 15
#include <memsched/schedule.hpp>
struct nothing {};
int main() { (void)memsched::schedule(memsched::problem_builder{}.build().value(), nothing{}); }
