/* SPDX-License-Identifier: MIT */
/*
 * content.h — arithmetic on partial contents, for operators that shape computations go through
 * (Shape → Gather → Mul → Concat → Reshape).
 *
 * Beside the int32 and int64 tensors of infer.h, bool tensors carry 0, 1 and what is always one of
 * the two, and float32 and float64 tensors the whole numbers they hold: exports cast sizes to float
 * and back. A float tensor's contents are only given where the type holds them exactly; expressions
 * count as exact.
 * What a float division leaves is a ratio, exact in float32 for numerators below 2^24. Sums and
 * products of ratios are only followed where the divisor is a power of two; floor, ceiling and
 * casts to integers make expressions of any.
 * Operators without a rule of their own are run on what is known (content_eval.c).
 */
#ifndef PRT_OP_CONTENT_H
#define PRT_OP_CONTENT_H

#include "op/op.h"

/* Like prt_content, with room; elements of any rank in row-major order. */
typedef struct prt_known {
    uint32_t count;
    int64_t values[PRT_CONTENT_MAX]; /* numbers, expressions or PRT_DIM_UNKNOWN */
} prt_known;

/* What is known of input i; false when nothing is, or at run time, when nobody asks. */
bool prt_known_of(const prt_infer *c, uint32_t i, prt_known *out);

/* Numbers in a tensor (ratios need `dims`); false when it has no or too many elements, or none of a
 * type that carries contents. */
bool prt_known_read(prt_dims *dims, const prt_tensor *t, prt_known *out);

/* Gives output i (or 0) these contents where its type (which must be set) can carry them. */
poprt_status prt_known_give(prt_infer *c, uint32_t i, prt_known *k);
static inline poprt_status prt_known_set(prt_infer *c, prt_known *k)
{
    return prt_known_give(c, 0, k);
}

/* One element from broadcast elements of the inputs, of which there are `n`. */
typedef int64_t (*prt_known_fn)(const prt_infer *c, uint32_t n, const int64_t *in);

/* Contents of output 0, whose type must be set, from all inputs. Nothing where one is unknown. */
poprt_status prt_known_map(prt_infer *c, prt_known_fn fn);

/* 1 where `dim` is not zero, else 0: a number as a bool. */
int64_t prt_known_is_true(prt_dims *dims, int64_t dim);

/* Contents that the infer hook left open, by running the kernel; see content_eval.c. */
poprt_status prt_known_evaluate(prt_infer *c);

#endif
