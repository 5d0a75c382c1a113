/* The heap of compiled MLIR (finalize-memref-to-llvm{use-generic-functions=true}): counts bytes, without the 64 of alignment
   that bufferization asks for each buffer, and poisons what is fresh and what is freed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t live, peak, base;

void* _mlir_memref_to_llvm_alloc(int64_t size) {
  char* block = malloc((size_t)size + 16);
  if (block == NULL) abort();
  *(int64_t*)block = size;
  memset(block + 16, 0xA5, (size_t)size);
  live += size - 64;
  if (live > peak) peak = live;
  return block + 16;
}

void _mlir_memref_to_llvm_free(void* pointer) {
  if (pointer == NULL) return;
  char* block = (char*)pointer - 16;
  const int64_t size = *(int64_t*)block;
  live -= size - 64;
  memset(block, 0x5A, (size_t)size + 16);
  free(block);
}

/* Starts to count a peak above what is live. */
void heap_begin(void) { peak = base = live; }
/* Says the peak since. */
void heap_end(void) { printf("heap %lld\n", (long long)(peak - base)), fflush(stdout); }
/* What a compiler knows nothing of, for calls. */
void tick(void) {}

/* A memref of one dimension, as MLIR's C interface has it. */
struct memref {
  float *allocated, *aligned;
  int64_t offset, size, stride;
};
/* Reads and writes a buffer, and keeps no pointer to it. */
float _mlir_ciface_touch(struct memref* m) {
  float* x = m->aligned + m->offset;
  return x[2] = (x[2] + x[m->size - 1]) / 2;
}
