/* SPDX-License-Identifier: MIT */
/*
 * train.h — rows of operators of op/training: items of 4,096 elements, and pieces of rows of any
 * float type up to 32 bits as float32.
 */
#ifndef PRT_FAST_TRAIN_TRAIN_H
#define PRT_FAST_TRAIN_TRAIN_H

#include "fast/fast.h"
#include "fast/parallel.h"
#include "op/training/update.h"

enum {
    PRT_TRAIN_PIECE = 512 /* elements that are converted at a time, in the first cache level */
};

/* Memory for the elements of a piece. */
typedef struct prt_train_buffer {
    _Alignas(64) float at[PRT_TRAIN_PIECE];
} prt_train_buffer;

/* Returns elements [first, first + n) of a tensor as float32: in place, or, for other types,
 * converted to the buffer. Returns NULL for NULL. */
const float *prt_train_load(const prt_tensor *t, size_t first, size_t n, prt_train_buffer *buffer);

/* Returns where a kernel writes elements from `first` on: in the tensor, or, for other types, in
 * the buffer, from which prt_train_store converts them to the tensor. */
float *prt_train_place(const prt_tensor *t, size_t first, prt_train_buffer *buffer);
void prt_train_store(const prt_tensor *t, size_t first, size_t n, const prt_train_buffer *buffer);

/* Returns whether inputs and outputs are float32, float16 or bfloat16 where they are of the given
 * bit sets, and all those outputs have memory. */
bool prt_train_supports(const prt_eval *c, uint32_t in, uint32_t out);

#endif
