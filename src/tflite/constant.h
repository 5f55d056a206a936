/* SPDX-License-Identifier: MIT */
/* constant.h — the elements of constant tensors as blobs. */
#ifndef PRT_TFLITE_CONSTANT_H
#define PRT_TFLITE_CONSTANT_H

#include "tflite/model.h"

/*
 * Returns the elements of a tensor that has data: a view of the file, or owned bytes for strings
 * and for a sparse tensor, which is made dense. `*owned_left` limits the owned bytes, and is
 * reduced by them: a small sparse tensor may be large when dense.
 */
poprt_status prt_tflite_constant(const prt_tflite_model *m, const prt_tflite_tensor *t,
    const prt_allocator *allocator, size_t *owned_left, prt_blob **out);

/* sparse.c: writes the elements of a sparse tensor to `to`, which holds `count` zero elements. */
poprt_status prt_tflite_densify(const prt_tflite_tensor *t, uint64_t count, unsigned char *to);

#endif
