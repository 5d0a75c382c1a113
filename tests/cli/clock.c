/* A steady clock that is a second later each time it is read, for LD_PRELOAD. Where it was read, the seconds that it went
   are written to the file that CLOCK_WENT names. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { start = 1000000 };
static long long seconds = start;

__attribute__((destructor)) static void tell(void) {
  const char *name = getenv("CLOCK_WENT");
  FILE *file = name && seconds > start ? fopen(name, "w") : NULL;
  if (file == NULL) return;
  fprintf(file, "%lld\n", seconds - start);
  fclose(file);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  (void)clock;
  now->tv_sec = (time_t)++seconds;
  now->tv_nsec = 0;
  return 0;
}
