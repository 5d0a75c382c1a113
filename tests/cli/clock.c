/* A steady clock that is a second later each time it is read, for LD_PRELOAD. */
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
  static long long seconds = 1000000;
  (void)clock;
  now->tv_sec = (time_t)++seconds;
  now->tv_nsec = 0;
  return 0;
}
