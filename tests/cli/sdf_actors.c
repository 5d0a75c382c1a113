// Actors for a schedule that the program wrote as C (SCHEDULE): each numbers the tokens that it produces, one byte or more,
// and checks the numbers of those that it takes. Two runs of the schedule, so that all tokens come back.
#include SCHEDULE

#include <stdio.h>

#define COUNT (sizeof sdf_channels / sizeof *sdf_channels)
static size_t written[COUNT], taken[COUNT];
static unsigned long errors, checked;

static void write_token(sdf_channel *c, size_t i) {
  unsigned char *token = sdf_token(c, i);
  const size_t number = written[c - sdf_channels]++;
  if (token < sdf_memory || token + c->size > sdf_memory + sizeof sdf_memory) {
    ++errors;
    return;
  }
  for (size_t k = 0; k < c->size; ++k) token[k] = (unsigned char)(number + 37 * (size_t)(c - sdf_channels) + k);
}
static void take_token(sdf_channel *c, size_t i) {
  const unsigned char *token = sdf_token(c, i);
  const size_t number = taken[c - sdf_channels]++;
  for (size_t k = 0; k < c->size; ++k)
    if (token[k] != (unsigned char)(number + 37 * (size_t)(c - sdf_channels) + k)) ++errors;
  ++checked;
}
void sdf_initial(sdf_channel *channel, size_t i);
void sdf_initial(sdf_channel *channel, size_t i) { write_token(channel, i); }

// Under pbc the inputs are there until the outputs are written.
static void fire(sdf_channel *const in[], sdf_channel *const out[]) {
#ifdef CBP
  for (; *in; ++in)
    for (size_t i = 0; i < (*in)->consumed; ++i) take_token(*in, i);
#endif
  for (; *out; ++out)
    for (size_t i = 0; i < (*out)->produced; ++i) write_token(*out, (*out)->tokens + i);
#ifndef CBP
  for (; *in; ++in)
    for (size_t i = 0; i < (*in)->consumed; ++i) take_token(*in, i);
#endif
}
#define ACTOR(name) \
  void name(sdf_channel *const in[], sdf_channel *const out[]) { fire(in, out); }
SDF_ACTORS(ACTOR)

int main(void) {
  sdf_start();
  sdf_run();
  sdf_run();
  printf("%lu tokens, %lu errors\n", checked, errors);
  return errors > 0 || checked == 0;
}
