/* SPDX-License-Identifier: MIT */
/*
 * conv.h — convolutions and pools of TensorFlow as operators of ONNX. TensorFlow's images have
 * their channels last, as NHWC, where ONNX has NCHW: each function transposes, builds the operator
 * and transposes back. Functions are sticky like the builder: with a NULL value they build nothing.
 */
#ifndef PRT_TENSORFLOW_CONV_H
#define PRT_TENSORFLOW_CONV_H

#include "tensorflow/convert.h"

enum { PRT_TF_MAX_AXES = 3 };

typedef enum prt_tf_padding {
    PRT_TF_PAD_valid,
    PRT_TF_PAD_same,
    PRT_TF_PAD_explicit /* `before` and `after` */
} prt_tf_padding;

/* The geometry of a convolution or pool, by spatial axis. */
typedef struct prt_tf_window {
    uint32_t axes; /* 1 to 3 */
    bool channels_last;
    prt_tf_padding padding;
    int64_t kernel[PRT_TF_MAX_AXES]; /* of a pool; a convolution takes the sizes of its weights */
    int64_t stride[PRT_TF_MAX_AXES], dilation[PRT_TF_MAX_AXES];
    int64_t before[PRT_TF_MAX_AXES], after[PRT_TF_MAX_AXES]; /* of explicit padding */
} prt_tf_window;

/* Reads the strides, dilations, padding and data_format of a node. Returns false, and records why,
 * if they are malformed or move over images or channels. */
bool prt_tf_read_window(prt_tf_call *n, uint32_t axes, prt_tf_window *out);

/* Reads a list of axes + 2 numbers, in the order of data_format, as numbers of spatial axes. The
 * numbers of the other axes must be 1. `list` may be empty: then all are 1. */
bool prt_tf_window_list(prt_tf_call *n, const prt_tf_window *w, const char *name, prt_i64s list,
    int64_t *to);

/* Transposes [N, axes…, C] to [N, C, axes…], and back; nothing if channels are first already. */
prt_value *prt_tf_to_channels_first(prt_build *b, prt_value *x, const prt_tf_window *w);
prt_value *prt_tf_from_channels_first(prt_build *b, prt_value *x, const prt_tf_window *w);

/* Builds a convolution. `layout` names the axes of the weights: O is the output channel, I the
 * input channel of a group, and the other letters are spatial axes in order, as in "HWIO" or
 * "OHWI". `group` 0: the channels of `x` divided by the size of I. `bias` may be NULL. */
prt_value *prt_tf_conv(prt_tf_call *n, const prt_tf_window *w, prt_value *x, prt_value *weights,
    const char *layout, int64_t group, prt_value *bias);

/* Builds a transposed convolution. In `layout`, I is the channel of `x` and O the output channel
 * of a group. The size of the result is input `sizes` of the node: a whole shape, in the order of
 * data_format, or only its spatial axes. `group` 0: the channels of that shape divided by the size
 * of O. */
prt_value *prt_tf_conv_transpose(prt_tf_call *n, const prt_tf_window *w, prt_value *x,
    prt_value *weights, const char *layout, int64_t group, prt_value *bias, uint32_t sizes);

/* Builds MaxPool, AveragePool or LpPool, of which `id` is one. */
prt_value *prt_tf_pool(prt_tf_call *n, const prt_tf_window *w, uint32_t id, prt_value *x);
/* Builds MaxPool with the positions of the maxima in the tensor with channels first. Outputs have
 * channels first too. */
prt_op *prt_tf_max_pool_indices(prt_tf_call *n, const prt_tf_window *w, prt_value *x);

/* Sets `pads` to the padding before each axis and then behind each axis. `x` has channels last or
 * first, as the window says. Returns false if it depends on sizes that are not known. */
bool prt_tf_window_pads(const prt_tf_window *w, const prt_value *x, int64_t *pads);

/* Converts a BatchToSpaceND behind a convolution behind a SpaceToBatchND as one convolution with
 * dilations, and sets output 0. Sets `done` to false, and builds nothing, if the nodes are not such
 * a group. */
poprt_status prt_tf_dilated_conv(prt_tf_call *n, bool *done);

#endif
