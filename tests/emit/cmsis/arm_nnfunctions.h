/* The part of CMSIS-NN's interface that generated libraries call, as its releases 4 to 7 declare it: types, names and
   parameters. For tests; firmware takes CMSIS-NN's own header. */
#ifndef ARM_NNFUNCTIONS_H
#define ARM_NNFUNCTIONS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  ARM_CMSIS_NN_SUCCESS = 0,
  ARM_CMSIS_NN_ARG_ERROR = -1,
  ARM_CMSIS_NN_NO_IMPL_ERROR = -2,
  ARM_CMSIS_NN_FAILURE = -3
} arm_cmsis_nn_status;

typedef struct {
  int32_t w, h;
} cmsis_nn_tile;
typedef struct {
  void *buf;
  int32_t size;
} cmsis_nn_context;
typedef struct {
  int32_t n, h, w, c;
} cmsis_nn_dims;
typedef struct {
  int32_t *multiplier, *shift;
} cmsis_nn_per_channel_quant_params;
typedef struct {
  int32_t multiplier, shift;
} cmsis_nn_per_tensor_quant_params;
typedef struct {
  int32_t min, max;
} cmsis_nn_activation;
typedef struct {
  int32_t input_offset, output_offset;
  cmsis_nn_tile stride, padding, dilation;
  cmsis_nn_activation activation;
} cmsis_nn_conv_params;
typedef struct {
  int32_t input_offset, output_offset, ch_mult;
  cmsis_nn_tile stride, padding, dilation;
  cmsis_nn_activation activation;
} cmsis_nn_dw_conv_params;
typedef struct {
  cmsis_nn_tile stride, padding;
  cmsis_nn_activation activation;
} cmsis_nn_pool_params;
typedef struct {
  int32_t input_offset, filter_offset, output_offset;
  cmsis_nn_activation activation;
} cmsis_nn_fc_params;

arm_cmsis_nn_status arm_convolve_wrapper_s8(const cmsis_nn_context *, const cmsis_nn_conv_params *,
                                            const cmsis_nn_per_channel_quant_params *, const cmsis_nn_dims *input,
                                            const int8_t *, const cmsis_nn_dims *filter, const int8_t *,
                                            const cmsis_nn_dims *bias, const int32_t *, const cmsis_nn_dims *output, int8_t *);
int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params *, const cmsis_nn_dims *input,
                                                const cmsis_nn_dims *filter, const cmsis_nn_dims *output);

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(const cmsis_nn_context *, const cmsis_nn_dw_conv_params *,
                                                  const cmsis_nn_per_channel_quant_params *, const cmsis_nn_dims *input,
                                                  const int8_t *, const cmsis_nn_dims *filter, const int8_t *,
                                                  const cmsis_nn_dims *bias, const int32_t *, const cmsis_nn_dims *output,
                                                  int8_t *);
int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(const cmsis_nn_dw_conv_params *, const cmsis_nn_dims *input,
                                                      const cmsis_nn_dims *filter, const cmsis_nn_dims *output);

arm_cmsis_nn_status arm_fully_connected_s8(const cmsis_nn_context *, const cmsis_nn_fc_params *,
                                           const cmsis_nn_per_tensor_quant_params *, const cmsis_nn_dims *input,
                                           const int8_t *, const cmsis_nn_dims *filter, const int8_t *,
                                           const cmsis_nn_dims *bias, const int32_t *, const cmsis_nn_dims *output, int8_t *);
int32_t arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims *filter);

arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context *, const cmsis_nn_pool_params *, const cmsis_nn_dims *input,
                                    const int8_t *, const cmsis_nn_dims *filter, const cmsis_nn_dims *output, int8_t *);
arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *, const cmsis_nn_pool_params *, const cmsis_nn_dims *input,
                                   const int8_t *, const cmsis_nn_dims *filter, const cmsis_nn_dims *output, int8_t *);
int32_t arm_avgpool_s8_get_buffer_size(const int output_width, const int channels);

#ifdef __cplusplus
}
#endif

#endif
