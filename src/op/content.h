/* SPDX-License-Identifier: MIT */
/*
 * content.h — arithmetic on partial contents, for operators that occur in shape computations (Shape
 * → Gather → Mul → Concat → Reshape).
 *
 * Integer contents follow infer.h. A bool tensor carries 0, 1 and expressions that are always 0 or
 * 1. A float32 or float64 tensor carries the whole numbers it holds, since exporters cast sizes to
 * float and back. Contents of a float tensor are set only if the type represents them exactly;
 * expressions count as exact.
 *
 * The result of a float division is a ratio, exact in float32 for numerators below 2^24. Sums and
 * products of ratios are followed only if the divisor is a power of two. Floor, ceiling and casts
 * to integers turn any ratio into an expression.
 *
 * An operator without a rule of its own is evaluated on the known contents (content_eval.c).
 */
#ifndef PRT_OP_CONTENT_H
#define PRT_OP_CONTENT_H

#include "op/op.h"

/* Like prt_content, with its own storage; elements of any rank in row-major order. */
typedef struct prt_known {
    uint32_t count;
    int64_t values[PRT_CONTENT_MAX]; /* numbers, expressions or PRT_DIM_UNKNOWN */
} prt_known;

/* Reads the known contents of input i. Returns false if nothing is known, and always at run
 * time. */
bool prt_known_of(const prt_infer *c, uint32_t i, prt_known *out);

/* Reads the numbers of a tensor (ratios need `dims`). Returns false if the tensor is empty, has
 * too many elements, or has a type that carries no contents. */
bool prt_known_read(prt_dims *dims, const prt_tensor *t, prt_known *out);

/* Sets the contents of output i (or 0) where its type, which must be set, can represent them. */
poprt_status prt_known_set_output(prt_infer *c, uint32_t i, prt_known *k);
static inline poprt_status prt_known_set(prt_infer *c, prt_known *k)
{
    return prt_known_set_output(c, 0, k);
}

/* Computes one output element from the `n` broadcast elements of the inputs. */
typedef int64_t (*prt_known_fn)(const prt_infer *c, uint32_t n, const int64_t *in);

/* Computes the contents of output 0, whose type must be set, from all inputs. Does nothing if
 * the contents of an input are not known. */
poprt_status prt_known_map(prt_infer *c, prt_known_fn fn);

/* Returns 1 where `dim` is not zero, else 0: the cast of a number to bool. */
int64_t prt_known_is_true(prt_dims *dims, int64_t dim);

/* Computes contents that the infer hook left open by running the kernel; see content_eval.c. */
poprt_status prt_known_evaluate(prt_infer *c);

#endif
