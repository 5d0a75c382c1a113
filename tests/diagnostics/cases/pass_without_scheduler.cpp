// expect: memsched: the policy is a pass and lacks its scheduler: write pass \| scheduler
// lines: 15
#include <memsched/passes/divide.hpp>
#include <memsched/schedule.hpp>
int main() { (void)memsched::schedule(memsched::problem_builder{}.build().value(), memsched::divide{}); }
