/* Runs a library named net on the inputs of the stored outputs, and writes its outputs; on standard error the bytes of
   stack that it took and, for the board mps2-an386 under `-icount shift=0`, instructions, in steps of 40; elsewhere
   nanoseconds of processor time. Inputs: x = 7, then for each element x = x * 1664525 + 1013904223, u = x / 2^32. */
#define _POSIX_C_SOURCE 199309L
#include "net.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#if NET_INPUTS != 1 || NET_OUTPUTS > 3
#error "one input and up to three outputs"
#endif

enum { painted = 8192 };

static union {
  float aligned;
  unsigned char bytes[NET_ARENA_BYTES];
} arena;
static unsigned char input[NET_INPUT0_BYTES], output0[NET_OUTPUT0_BYTES];
#if NET_OUTPUTS > 1
static unsigned char output1[NET_OUTPUT1_BYTES];
#endif
#if NET_OUTPUTS > 2
static unsigned char output2[NET_OUTPUT2_BYTES];
#endif

/* Paints the stack below the caller's, or counts what is not painted any more. */
static __attribute__((noinline)) int stack(int paint) {
  volatile unsigned char room[painted];
  int i = 0;
  if (paint)
    for (i = 0; i < painted; ++i) room[i] = 0xa5;
  else
    while (i < painted && room[i] == 0xa5) ++i;
  return painted - i;
}

/* Instructions so far, or nanoseconds. */
static uint64_t now(void) {
#ifdef __arm__
  /* A timer that counts down with the clock of 25 MHz, while an instruction takes 1 ns. */
  volatile uint32_t *const timer = (volatile uint32_t *)(uintptr_t)0x40000000;
  timer[0] = 1;
  return 40 * (uint64_t)(0xffffffff - timer[1]);
#else
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1000000000 * (uint64_t)t.tv_sec + (uint64_t)t.tv_nsec;
#endif
}

int main(void) {
  const void *in[] = {input};
  uint32_t x = 7;
  uint64_t start;
  int used;
  void *out[] = {
      output0,
#if NET_OUTPUTS > 1
      output1,
#endif
#if NET_OUTPUTS > 2
      output2,
#endif
  };
  for (size_t i = 0; i < NET_INPUT0_BYTES / sizeof(NET_INPUT0_TYPE); ++i) {
    x = x * 1664525U + 1013904223U;
    if ((NET_INPUT0_TYPE)0.5F != 0) {
      const float y = (float)(x / 4294967296.0 * 2 - 1);
      memcpy(input + i * sizeof y, &y, sizeof y);
    } else {
      input[i] = (unsigned char)((x >> 24) - ((NET_INPUT0_TYPE)-1 < 0 ? 128 : 0));
    }
  }
#ifdef __arm__
  *(volatile uint32_t *)(uintptr_t)0x40000004 = 0xffffffff;
#endif
  stack(1);
  start = now();
  if (net_run(in, out, arena.bytes)) return 1;
  start = now() - start;
  used = stack(0);
  fprintf(stderr, "%d %lu\n", used, (unsigned long)start);
  fwrite(output0, 1, sizeof output0, stdout);
#if NET_OUTPUTS > 1
  fwrite(output1, 1, sizeof output1, stdout);
#endif
#if NET_OUTPUTS > 2
  fwrite(output2, 1, sizeof output2, stdout);
#endif
  return 0;
}
