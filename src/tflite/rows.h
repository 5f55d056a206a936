/* SPDX-License-Identifier: MIT */
/* rows.h — the functions of rows.def, and what they share. */
#ifndef PRT_TFLITE_ROWS_H
#define PRT_TFLITE_ROWS_H

#include "tflite/convert.h"

#define AS(operator, mode, inputs, name)
#define OWN(operator, mode, inputs, function)                                                      \
    poprt_status prt_tflite_row_##function(prt_tflite_call *n);
#include "tflite/rows.def"

static inline prt_tf_value prt_tflite_value(prt_value *v)
{
    return (prt_tf_value){ .kind = v != NULL ? PRT_TF_tensor : PRT_TF_none, .value = v };
}

/* Sets output 0 and ends a function. */
static inline poprt_status prt_tflite_done(prt_tflite_call *n, prt_value *v)
{
    prt_tf_set(&n->tf, 0, v);
    return prt_tf_end(&n->tf);
}

#endif
