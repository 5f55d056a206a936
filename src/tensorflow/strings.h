/* SPDX-License-Identifier: MIT */
/* strings.h — operations on strings that ONNX has from opset 19 or 20 on, for any opset. */
#ifndef PRT_TENSORFLOW_STRINGS_H
#define PRT_TENSORFLOW_STRINGS_H

#include "tensorflow/convert.h"

prt_value *prt_tf_concat_strings(prt_tf_call *call, prt_value *x, prt_value *y);

/* Compares elements of any type. */
prt_value *prt_tf_equal(prt_tf_call *call, prt_value *x, prt_value *y);

#endif
