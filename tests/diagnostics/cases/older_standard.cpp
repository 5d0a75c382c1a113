// flags: -std=c++17
// expect: memsched needs C\+\+20
// lines: 25
#include <memsched/schedule.hpp>
int main() {}
