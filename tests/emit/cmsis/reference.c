/* The functions of CMSIS-NN that generated libraries call, as plain loops after TensorFlow Lite's arithmetic. Each asks for
   the scratch that CMSIS-NN asks for on a Cortex-M4, and writes all of it. Compiled with CMSIS_CALLS, a program that called
   some writes to the file of that name at its end how often. */
#include "arm_nnfunctions.h"

#include <string.h>

#ifdef CMSIS_CALLS
#include <stdio.h>
static int calls[5];
static void __attribute__((destructor)) tell(void) {
  FILE *f = calls[0] + calls[1] + calls[2] + calls[3] + calls[4] > 0 ? fopen(CMSIS_CALLS, "w") : 0;
  if (!f) return;
  for (int i = 0; i < 5; ++i) fprintf(f, "%d ", calls[i]);
  fclose(f);
}
#define COUNT(which) ++calls[which]
#else
#define COUNT(which) (void)(which)
#endif

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }
static int8_t bounded(int32_t x, cmsis_nn_activation a) { return (int8_t)larger(a.min, smaller(x, a.max)); }
/* x * factor * 2^(shift - 31), the product rounded to nearest, half away from zero, twice */
static int32_t scaled(int32_t x, int32_t factor, int32_t shift) {
  const int left = shift > 0 ? shift : 0, right = left - shift;
  const int64_t wide = (int64_t)(int32_t)((uint32_t)x << left) * factor;
  const int32_t high = (int32_t)((wide + ((int64_t)1 << 30)) >> 31);
  const int64_t half = right > 0 ? (int64_t)1 << (right - 1) : 0;
  return (int32_t)((high + half - (high < 0 && right > 0)) >> right);
}
static arm_cmsis_nn_status counted(int which, const cmsis_nn_context *c, int32_t wanted) {
  if (c->size < wanted) return ARM_CMSIS_NN_ARG_ERROR;
  if (wanted > 0) memset(c->buf, 0x5a, (size_t)wanted);
  COUNT(which);
  return ARM_CMSIS_NN_SUCCESS;
}

int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params *how, const cmsis_nn_dims *in,
                                                const cmsis_nn_dims *filter, const cmsis_nn_dims *out) {
  const int32_t columns = filter->h * filter->w * in->c;
  (void)out;
  if (filter->h == 1 && filter->w == 1 && how->padding.h == 0 && how->padding.w == 0) return 0;
  return 4 * ((columns + 3) / 4 * 4);
}
arm_cmsis_nn_status arm_convolve_wrapper_s8(const cmsis_nn_context *context, const cmsis_nn_conv_params *how,
                                            const cmsis_nn_per_channel_quant_params *q, const cmsis_nn_dims *in,
                                            const int8_t *x, const cmsis_nn_dims *filter, const int8_t *w,
                                            const cmsis_nn_dims *bias_dims, const int32_t *bias, const cmsis_nn_dims *out,
                                            int8_t *y) {
  (void)bias_dims;
  if (filter->c != in->c || filter->n != out->c) return ARM_CMSIS_NN_ARG_ERROR;
  for (int r = 0; r < out->h; ++r)
    for (int c = 0; c < out->w; ++c)
      for (int k = 0; k < out->c; ++k) {
        int32_t sum = bias ? bias[k] : 0;
        for (int dy = 0; dy < filter->h; ++dy) {
          const int row = r * how->stride.h - how->padding.h + dy * how->dilation.h;
          for (int dx = 0; dx < filter->w && row >= 0 && row < in->h; ++dx) {
            const int column = c * how->stride.w - how->padding.w + dx * how->dilation.w;
            const int8_t *from = x + ((long)row * in->w + column) * in->c, *by = w + ((k * filter->h + dy) * filter->w + dx) * in->c;
            if (column < 0 || column >= in->w) continue;
            for (int i = 0; i < in->c; ++i) sum += (from[i] + how->input_offset) * by[i];
          }
        }
        *y++ = bounded(scaled(sum, q->multiplier[k], q->shift[k]) + how->output_offset, how->activation);
      }
  return counted(0, context, arm_convolve_wrapper_s8_get_buffer_size(how, in, filter, out));
}

int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(const cmsis_nn_dw_conv_params *how, const cmsis_nn_dims *in,
                                                      const cmsis_nn_dims *filter, const cmsis_nn_dims *out) {
  if (in->c != out->c || how->dilation.h != 1 || how->dilation.w != 1) return 0;
  if (filter->h == 3 && filter->w == 3 && how->padding.h <= 1 && how->padding.w <= 1) return 0;
  return 2 * in->c * filter->h * filter->w;
}
arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(const cmsis_nn_context *context, const cmsis_nn_dw_conv_params *how,
                                                  const cmsis_nn_per_channel_quant_params *q, const cmsis_nn_dims *in,
                                                  const int8_t *x, const cmsis_nn_dims *filter, const int8_t *w,
                                                  const cmsis_nn_dims *bias_dims, const int32_t *bias,
                                                  const cmsis_nn_dims *out, int8_t *y) {
  (void)bias_dims;
  if (filter->c != out->c || in->c * how->ch_mult != out->c) return ARM_CMSIS_NN_ARG_ERROR;
  for (int r = 0; r < out->h; ++r)
    for (int c = 0; c < out->w; ++c)
      for (int k = 0; k < out->c; ++k) {
        int32_t sum = bias ? bias[k] : 0;
        for (int dy = 0; dy < filter->h; ++dy)
          for (int dx = 0; dx < filter->w; ++dx) {
            const int row = r * how->stride.h - how->padding.h + dy * how->dilation.h;
            const int column = c * how->stride.w - how->padding.w + dx * how->dilation.w;
            if (row < 0 || row >= in->h || column < 0 || column >= in->w) continue;
            sum += (x[((long)row * in->w + column) * in->c + k / how->ch_mult] + how->input_offset) *
                   w[(dy * filter->w + dx) * out->c + k];
          }
        *y++ = bounded(scaled(sum, q->multiplier[k], q->shift[k]) + how->output_offset, how->activation);
      }
  return counted(1, context, arm_depthwise_conv_wrapper_s8_get_buffer_size(how, in, filter, out));
}

int32_t arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims *filter) {
  (void)filter;
  return 0;
}
arm_cmsis_nn_status arm_fully_connected_s8(const cmsis_nn_context *context, const cmsis_nn_fc_params *how,
                                           const cmsis_nn_per_tensor_quant_params *q, const cmsis_nn_dims *in,
                                           const int8_t *x, const cmsis_nn_dims *filter, const int8_t *w,
                                           const cmsis_nn_dims *bias_dims, const int32_t *bias, const cmsis_nn_dims *out,
                                           int8_t *y) {
  (void)bias_dims;
  if (in->h * in->w * in->c != filter->n || filter->c != out->c) return ARM_CMSIS_NN_ARG_ERROR;
  for (int k = 0; k < out->c; ++k) {
    int32_t sum = bias ? bias[k] : 0;
    for (int i = 0; i < filter->n; ++i) sum += (x[i] + how->input_offset) * (w[(long)k * filter->n + i] + how->filter_offset);
    y[k] = bounded(scaled(sum, q->multiplier, q->shift) + how->output_offset, how->activation);
  }
  return counted(2, context, 0);
}

int32_t arm_avgpool_s8_get_buffer_size(const int width, const int channels) {
  (void)width;
  return 4 * channels;
}
static void pool(const cmsis_nn_pool_params *how, const cmsis_nn_dims *in, const int8_t *x, const cmsis_nn_dims *filter,
                 const cmsis_nn_dims *out, int8_t *y, int average) {
  for (int r = 0; r < out->h; ++r)
    for (int c = 0; c < out->w; ++c)
      for (int k = 0; k < out->c; ++k) {
        int32_t sum = 0, most = -128, cells = 0;
        for (int dy = 0; dy < filter->h; ++dy)
          for (int dx = 0; dx < filter->w; ++dx) {
            const int row = r * how->stride.h - how->padding.h + dy, column = c * how->stride.w - how->padding.w + dx;
            if (row < 0 || row >= in->h || column < 0 || column >= in->w) continue;
            most = larger(most, x[((long)row * in->w + column) * in->c + k]);
            sum += x[((long)row * in->w + column) * in->c + k];
            ++cells;
          }
        if (average) most = (sum > 0 ? sum + cells / 2 : sum - cells / 2) / cells;
        *y++ = bounded(most, how->activation);
      }
}
arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context *context, const cmsis_nn_pool_params *how, const cmsis_nn_dims *in,
                                    const int8_t *x, const cmsis_nn_dims *filter, const cmsis_nn_dims *out, int8_t *y) {
  pool(how, in, x, filter, out, y, 0);
  return counted(3, context, 0);
}
arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *context, const cmsis_nn_pool_params *how, const cmsis_nn_dims *in,
                                   const int8_t *x, const cmsis_nn_dims *filter, const cmsis_nn_dims *out, int8_t *y) {
  pool(how, in, x, filter, out, y, 1);
  return counted(4, context, arm_avgpool_s8_get_buffer_size(out->w, out->c));
}
