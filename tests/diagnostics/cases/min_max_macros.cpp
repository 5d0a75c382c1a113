// expect: define NOMINMAX
// lines: 30
#include <algorithm>
#include <memory>
#include <string>
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#include <memsched/schedule.hpp>
int main() {}
