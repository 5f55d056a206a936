/* SPDX-License-Identifier: MIT */
/*
 * complex.h — complex tensors, which ONNX does not compute: a value of kind PRT_TF_complex has the
 * real and the imaginary part as a last axis of 2. Rows of other operators know nothing of this:
 * an operator that acts on both parts alike is converted once for each part.
 */
#ifndef PRT_TENSORFLOW_COMPLEX_H
#define PRT_TENSORFLOW_COMPLEX_H

#include "tensorflow/convert.h"

/* Returns whether a node has a complex input or result, so that prt_tf_convert_complex converts
 * it. */
bool prt_tf_is_complex(prt_tf_call *n);
poprt_status prt_tf_convert_complex(prt_tf_call *n);

/* Returns the element type of the parts of a complex type; 0 for other types. */
int32_t prt_tf_part_type(int32_t dtype);

/* Returns a complex input. Otherwise returns NULL and records the failure, like prt_tf_in. */
prt_value *prt_tf_complex_in(prt_tf_call *n, uint32_t i);
void prt_tf_set_complex(prt_tf_call *n, uint32_t k, prt_value *value);

/* Returns the real (0) or imaginary (1) part, and the complex tensor of two parts. */
prt_value *prt_tf_part(prt_build *b, prt_value *x, int64_t part);
prt_value *prt_tf_join(prt_build *b, prt_value *re, prt_value *im);

#endif
