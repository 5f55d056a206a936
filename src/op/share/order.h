/* SPDX-License-Identifier: MIT */
/* order.h — one order for elements of every type, and sorting by it. */
#ifndef PRT_OP_SHARE_ORDER_H
#define PRT_OP_SHARE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/*
 * A number that is smaller, equal or greater as the element of a real numeric type is: exact for
 * all 64-bit integers and doubles. NaN is equal to NaN and above all others; -0 equals 0.
 */
uint64_t prt_order_key(int32_t dtype, const void *data, size_t index);
/* Those of elements first, first + step, ... */
void prt_order_keys(int32_t dtype, const void *data, size_t first, size_t step, size_t count,
    uint64_t *to);

/* Negative, 0 or positive as element a stands before, with or after b. Any type: strings by bytes,
 * complex numbers by real part first. */
int prt_order_compare(int32_t dtype, const void *data, size_t a, size_t b);

/* Sorts `index` so that `compare` is never positive for neighbours; what is equal keeps its order.
 * `spare` has room for `count` too. */
void prt_order_sort(int64_t *index, int64_t *spare, size_t count,
    int (*compare)(const void *user, int64_t a, int64_t b), const void *user);

#endif
